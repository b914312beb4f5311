import type { Json } from '../kernel/json.ts'
import type { Heartbeat, Reply } from '../kernel/message.ts'
import type { Operation } from '../kernel/step/step.ts'
import type { FairShare } from '../kernel/task/order.ts'

/** A request for a work queue. */
export interface WorkRequest {
  /** The number of the step in its task. */
  step: number
  /** The operation of the attempt. */
  operation: Operation
  /** The number of the attempt, from 1. */
  attempt: number
  /** The agent whose queue it goes to. */
  agent: string
  /** The action, as `agent.action`. */
  action: string
  /** Higher first; requests of one priority are ordered by `request.share`, without it by age. */
  priority: number
  /** Complete-by of the attempt, from the moment an agent takes it (ms). */
  completeWithin: number
  /** How long the attempt may be silent (ms); null: for ever. */
  heartbeatWithin: number | null
  /** Absolute complete-by of the step or task; null: none. */
  expiresAt: number | null
  /** The request that the agent gets. */
  request: StepRequest
}

/** All that an agent needs to run one attempt. */
export interface StepRequest {
  /**
   * The tenant or key it counts for, among those that share the agent's slots; absent if they are not shared. It is
   * always the first property, because PostgreSQL searches for it at the beginning of the text.
   */
  share?: FairShare
  /** The priority by which it is queued, as in the row; 0 when absent. */
  rank?: number
  /** The id of the task. */
  task: string
  /** The number of the step in its task. */
  step: number
  /** The operation of the attempt. */
  operation: Operation
  /** The number of the attempt, from 1. */
  attempt: number
  /** When it was queued (ms since the epoch, by the store's clock); only where that is measured. */
  since?: number
  /** The name of the step. */
  name: string
  /** The action, as `agent.action`. */
  action: string
  /** The name of the task's workflow. */
  workflow: string
  /** The version of the task's workflow. */
  version: string
  /** The idempotency key of the step, the same for every attempt. */
  idempotencyKey: string
  /** The highest fencing number of the locks its task held when the attempt was sent out. */
  fence?: number
  /** The metadata of its task. */
  metadata?: Readonly<Record<string, string>>
  /** The run of its task, by the number at which its steps begin; absent for the first run. */
  run?: number
  /** The input of the action. */
  input: Json
  /** For undo: the output to undo. */
  output?: Json
  /** The checkpoint that an earlier attempt saved. */
  checkpoint?: Json
  /** The event with which a suspended step runs again. */
  event?: { name: string; payload: Json }
  /** Secret texts in the step's data, as its task declares them: they are removed from log lines and errors of the attempt. */
  secretTexts?: readonly string[]
  /**
   * Set if the attempt was repeatedly lost with its process: it runs on probation. `strikes`: processes that died while
   * they ran it on probation.
   */
  trial?: { strikes: number }
}

/** A limit on the requests that are taken under one name: each holds a permit until it is gone. */
export interface PermitLimit {
  /** The agent, or `agent.action`. */
  name: string
  /** The limit over all nodes together. */
  most: number
}

/** Requests that are taken under one limit. */
export interface PermitRow {
  /** The agent, or `agent.action`. */
  name: string
  /** How many are taken now. */
  taken: number
  /** The limit, as the node that took the last request knew it. */
  most: number
}

/** A node's request to take from one queue. */
export interface QueueShare {
  /** The agent whose queue it is, or the name of a breaker of one of its keys. */
  agent: string
  /** The actions that the node knows. */
  actions: readonly string[]
  /** Most requests. */
  limit: number
  /** If set, `undo` and `verify` come first, whatever the priority of others. */
  urgent?: true
  /** Each request that is taken needs a permit of all of these limits: two at most. Absent: no limits. */
  seats?: readonly PermitLimit[]
  /** Only requests of these priorities: from `least` on, or `below`. Absent: any. */
  ranks?: { least: number } | { below: number }
}

/** A node's request to take from the work queues. */
export interface TakeWork {
  /** The id of the node. */
  node: string
  /** The queues. `actions` are those the node knows; requests of a newer version wait for a node that has them. */
  agents: readonly QueueShare[]
}

/** A request that the node has taken. */
export interface WorkItem {
  /** The number of the request. */
  id: number
  /** The agent whose queue it was in. */
  agent: string
  /** The request for the agent. */
  request: StepRequest
  /** The deadline of the attempt (ms since the epoch, by the store's clock). */
  completeBy: number
  /** How long it may be silent (ms); null: for ever. */
  heartbeatWithin: number | null
}

/** Identifies a request: a store that lost data may have given its number to another. Not compared when absent. */
export type RequestMark = Pick<StepRequest, 'task' | 'step' | 'operation' | 'attempt'>

/** A request whose attempt moves from the node that took it to another node. */
export interface WorkAdoption {
  /** The number of the request. */
  work: number
  /** The node that took it. */
  node: string
  /** The node that has it from now on. */
  to: string
  /** Identifies the request. */
  of: RequestMark
}

/** The answer to a request of a work queue. */
export interface QueuedReply {
  /** The number of the request. */
  work: number
  /** The node that took it. */
  node: string
  /** Identifies the request. */
  of?: RequestMark
  /** The message for the task. */
  message: Reply
}

/** A heartbeat of an attempt that was taken from a work queue. */
export interface WorkHeartbeat {
  /** The number of the request. */
  work: number
  /** The node that took it. */
  node: string
  /** Identifies the request. */
  of?: RequestMark
  /** Delivered to the inbox of the task when not null. */
  message: Heartbeat | null
}

/**
 * `late`: the row is gone or belongs to another node. `withdrawn`: abort the attempt. `held`: the heartbeat counts, but
 * its message is not delivered because another transaction holds the task.
 */
export type WorkHeartbeatOutcome = 'ok' | 'withdrawn' | 'late' | 'held'
