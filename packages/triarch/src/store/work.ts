import type { Json } from '../kernel/json.ts'
import type { Heartbeat, Reply } from '../kernel/message.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { Share } from '../kernel/task/order.ts'

/** A request for a work queue. */
export interface WorkRequest {
  /** The number of the step in its task. */
  step: number
  /** What the attempt is to do. */
  operation: Operation
  /** Which attempt it is, from 1. */
  attempt: number
  /** Whose queue it goes to. */
  agent: string
  /** As `agent.action`. */
  action: string
  /** Higher first; within one, by `request.share`, else what was first. */
  priority: number
  /** Complete-by of the attempt, from the moment an agent takes it (ms). */
  completeWithin: number
  /** How long the attempt may be silent (ms); null: for ever. */
  heartbeatWithin: number | null
  /** Absolute complete-by of the step or task; null: none. */
  expiresAt: number | null
  /** What the agent is given. */
  request: StepRequest
}

/** What an agent needs to run one attempt. */
export interface StepRequest {
  /** Whose it is among those who share the agent's slots. Always the first of all: PostgreSQL looks for it there. Not given: nobody shares them. */
  share?: Share
  /** What its place in the queue goes by, as that of the row; 0 when not given. */
  rank?: number
  /** The id of the task. */
  task: string
  /** The number of the step in its task. */
  step: number
  /** What the attempt is to do. */
  operation: Operation
  /** Which attempt it is, from 1. */
  attempt: number
  /** When it came into a queue (ms since the epoch, by the store's clock), where somebody wants to hear of that. */
  since?: number
  /** The name of the step. */
  name: string
  /** As `agent.action`. */
  action: string
  /** The name of the task's workflow. */
  workflow: string
  /** The version of the task's workflow. */
  version: string
  /** The same for every attempt of the step. */
  idempotencyKey: string
  /** The highest fencing number of the locks its task held when the attempt was sent out. */
  fence?: number
  /** Of its task. */
  metadata?: Readonly<Record<string, string>>
  /** The run of its task, by the number with which its steps begin; not given: the first. */
  run?: number
  /** What the action is given. */
  input: Json
  /** For undo: the output to undo. */
  output?: Json
  /** What an earlier attempt saved. */
  checkpoint?: Json
  /** What a step that was suspended runs again with. */
  event?: { name: string; payload: Json }
  /** Texts in what the step is given that are secret in its task: no line or error of its attempt says them. */
  secretTexts?: readonly string[]
  /** It was lost with its process time and again: it is to be tried apart. `strikes`: processes that died as they tried it. */
  trial?: { strikes: number }
}

/** How many requests may be taken at a time, of all that are taken under the same name: each has a seat until it is gone. */
export interface PermitLimit {
  /** The agent, or `agent.action`. */
  name: string
  /** Over all nodes together. */
  most: number
}

/** Requests that are taken under one bound. */
export interface PermitRow {
  /** The agent, or `agent.action`. */
  name: string
  /** How many are taken now. */
  taken: number
  /** How many there may be, as whoever took the last of them had it. */
  most: number
}

/** What a node would take of one queue. */
export interface QueueShare {
  /** The agent whose queue it is, or the name of a breaker of one of its keys. */
  agent: string
  /** Of those the node knows. */
  actions: readonly string[]
  /** Most requests. */
  limit: number
  /** `undo` and `verify` come first, whatever the priority of others. */
  urgent?: true
  /** Each that is taken needs a seat of all of these: two at most. No bounds when not given. */
  seats?: readonly PermitLimit[]
  /** Of requests of these priorities only: from `least` on, or `below`. Any when not given. */
  ranks?: { least: number } | { below: number }
}

/** What a node would take of the work queues. */
export interface TakeWork {
  /** The id of the node. */
  node: string
  /** `actions`: those the node knows; a newer version's requests wait for a node that has them. */
  agents: readonly QueueShare[]
}

/** A request that the node has taken. */
export interface WorkItem {
  /** The number of the request. */
  id: number
  /** The agent whose queue it was in. */
  agent: string
  /** What to do. */
  request: StepRequest
  /** By when the attempt must be done (ms since the epoch, by the store's clock). */
  completeBy: number
  /** How long it may be silent (ms); null: for ever. */
  heartbeatWithin: number | null
}

/** Which request it is: where the store went back, its number may be another's by now. Not asked when not given. */
export type RequestMark = Pick<StepRequest, 'task' | 'step' | 'operation' | 'attempt'>

/** A request whose attempt goes on for another node than the one that took it. */
export interface WorkAdoption {
  /** The number of the request. */
  work: number
  /** The node that took it. */
  node: string
  /** The node that has it from now on. */
  to: string
  /** Which request it is. */
  of: RequestMark
}

/** The answer to a request of a work queue. */
export interface QueuedReply {
  /** The number of the request. */
  work: number
  /** The node that took it. */
  node: string
  /** Which request it is. */
  of?: RequestMark
  /** What the task is told. */
  message: Reply
}

/** A heartbeat of an attempt that was taken of a work queue. */
export interface WorkHeartbeat {
  /** The number of the request. */
  work: number
  /** The node that took it. */
  node: string
  /** Which request it is. */
  of?: RequestMark
  /** Delivered to the owner's inbox when given. */
  message: Heartbeat | null
}

/**
 * `late`: the row is gone or somebody else's. `withdrawn`: abort it. `held`: it lives, but its message is not delivered, for
 * somebody's transaction holds the task.
 */
export type WorkHeartbeatOutcome = 'ok' | 'withdrawn' | 'late' | 'held'
