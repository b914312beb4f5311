import type { Json } from '../kernel/json.ts'
import type { Message } from '../kernel/message.ts'
import type { Operation } from '../kernel/step/step.ts'

export interface WorkRequest {
  step: number
  operation: Operation
  attempt: number
  agent: string
  action: string
  priority: number
  /** Complete-by of the attempt, from the moment an agent takes it (ms). */
  completeWithin: number
  heartbeatWithin: number | null
  /** Absolute complete-by of the step or task; null: none. */
  expiresAt: number | null
  request: StepRequest
}

/** What an agent needs to run one attempt. */
export interface StepRequest {
  task: string
  step: number
  operation: Operation
  attempt: number
  name: string
  action: string
  workflow: string
  version: string
  idempotencyKey: string
  /** The highest fencing number of the locks its task held when the attempt was sent out. */
  fence?: number
  /** Of its task. */
  metadata?: Readonly<Record<string, string>>
  input: Json
  /** For undo: the output to undo. */
  output?: Json
  checkpoint?: Json
  /** What a step that was suspended runs again with. */
  event?: { name: string; payload: Json }
  /** It was lost with its process time and again: it is to be tried by itself. */
  trial?: true
}

export interface TakeWork {
  node: string
  /** `actions`: those the node knows; a newer version's requests wait for a node that has them. */
  agents: readonly { agent: string; actions: readonly string[]; limit: number }[]
}

export interface WorkItem {
  id: number
  agent: string
  request: StepRequest
  completeBy: number
  heartbeatWithin: number | null
}

/** Which request it is: where the store went back, its number may be another's by now. Not asked when not given. */
export type RequestMark = Pick<StepRequest, 'task' | 'step' | 'operation' | 'attempt'>

export interface QueuedReply {
  work: number
  node: string
  of?: RequestMark
  message: Message
}

export interface WorkBeat {
  work: number
  node: string
  of?: RequestMark
  /** Delivered to the owner's inbox when given. */
  message: Message | null
}

/**
 * `late`: the row is gone or somebody else's. `withdrawn`: abort it. `held`: it lives, but its message is not delivered, for
 * somebody's transaction holds the task.
 */
export type WorkBeatOutcome = 'ok' | 'withdrawn' | 'late' | 'held'
