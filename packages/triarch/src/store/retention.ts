import type { TaskOutcome } from '../kernel/status.ts'

/** How long stopped tasks are kept. */
export interface RetentionRule {
  /** The workflow; null: all workflows that no rule names. */
  workflow: string | null
  /** The outcome of the tasks. */
  result: TaskOutcome
  /** How long they are kept after they stopped (ms); null: for ever. */
  age: number | null
}

/** One round of retention. */
export interface PruneRequest {
  /** The supervisor's lease and its fencing token. */
  name: string
  /** The fencing token of that lease. */
  token: number
  /** The retention rules. */
  rules: readonly RetentionRule[]
  /** Most tasks dropped. */
  limit: number
  /** Most history records dropped with them; a single task may have more. */
  records: number
  /** Keys of tasks that are not dropped. Default: none. */
  except?: readonly number[]
}

/** A task that cannot be dropped. */
export interface Undroppable {
  /** Its number in the store. */
  key: number
  /** The id of the task. */
  id: string
  /** The name of its workflow. */
  workflow: string
  /** The reason, as text for operators. */
  message: string
}

/** The result of one round. */
export interface PruneReport {
  /** How many tasks. */
  dropped: number
  /** Whether there is more to drop. */
  more: boolean
  /** Tasks that could not be dropped. */
  failed?: Undroppable[]
}
