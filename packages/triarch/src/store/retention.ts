import type { TaskOutcome } from '../kernel/status.ts'

/** How long stopped tasks are kept. */
export interface RetentionRule {
  /** null: all workflows that no rule names. */
  workflow: string | null
  /** Tasks that ended so. */
  result: TaskOutcome
  /** Since they stopped (ms); null: for ever. */
  age: number | null
}

/** One round of retention. */
export interface PruneRequest {
  /** The supervisor's lease and its fencing token. */
  name: string
  /** The fencing token of that lease. */
  token: number
  /** How long what is kept. */
  rules: readonly RetentionRule[]
  /** Most tasks dropped. */
  limit: number
  /** Most history records dropped with them; a single task may have more. */
  records: number
  /** Keys of tasks that are left alone. None by default. */
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
  /** Why, for people. */
  message: string
}

/** What was dropped. */
export interface PruneReport {
  /** How many tasks. */
  dropped: number
  /** There is more to drop. */
  more: boolean
  /** These cannot be; the others were. */
  failed?: Undroppable[]
}
