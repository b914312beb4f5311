import type { TaskResult } from '../kernel/status.ts'

/** How long stopped tasks are kept. */
export interface RetentionRule {
  /** null: all workflows that no rule names. */
  workflow: string | null
  result: TaskResult
  /** Since they stopped (ms); null: for ever. */
  age: number | null
}

export interface PruneRequest {
  /** The supervisor's lease and its fencing token. */
  name: string
  token: number
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
  key: number
  id: string
  workflow: string
  message: string
}

export interface PruneReport {
  dropped: number
  /** There is more to drop. */
  more: boolean
  /** These cannot be; the others were. */
  failed?: Undroppable[]
}
