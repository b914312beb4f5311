import type { TriarchError } from '../error/error.ts'
import type { DatedEvent } from '../kernel/rebuild.ts'
import type { Redaction } from '../kernel/redaction.ts'
import type { TaskState } from '../kernel/state.ts'
import type { LastEvents } from './heard.ts'
import type { StepView } from './steps.ts'

/** The contents of a task's history, up to its last record. Readers share it, so it must not be changed. */
export interface HistoryContents {
  /** The last record that was read; 0: none. */
  readonly last: number
  /** The record from which the task is replayed. */
  readonly base: number
  readonly events: readonly DatedEvent[]
  readonly redaction: Redaction
  readonly heard: LastEvents
  /** The task's state after these events. */
  readonly state: TaskState
  /** Why the history cannot be read to its end, or is inconsistent: HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, CODEC_*. */
  readonly broken: TriarchError | null
  /** When the last record was written; 0: there is none. */
  readonly at: number
  /** The steps of the run after a number, with secrets hidden. */
  steps(after?: number): StepView[]
  /** The weighted share of the known steps that is done: 0 to 1. */
  progress(): number
  /** Number of events up to this record, and before it; null: the record does not belong to the run. */
  upTo(seq: number): { size: number; before: number } | null
}
