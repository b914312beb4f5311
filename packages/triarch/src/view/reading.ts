import type { TriarchError } from '../error/error.ts'
import type { DatedEvent } from '../kernel/rebuild.ts'
import type { Redaction } from '../kernel/redaction.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Heard } from './heard.ts'
import type { StepView } from './steps.ts'

/** What the history of a task says, up to its last record. It is shared: nobody changes it. */
export interface Reading {
  /** The last record that was read; 0: none. */
  readonly last: number
  /** The record from which on the task is replayed. */
  readonly base: number
  readonly events: readonly DatedEvent[]
  readonly redaction: Redaction
  readonly heard: Heard
  /** The task by these events. */
  readonly state: TaskState
  /** Why the history cannot be read to its end, or contradicts itself: HISTORY_CORRUPT, HISTORY_FORMAT_UNKNOWN, CODEC_*. */
  readonly broken: TriarchError | null
  /** When the last record was written; 0: there is none. */
  readonly at: number
  /** The steps of the run after a number, without what is secret. */
  steps(after?: number): StepView[]
  /** Weighted share of the steps that are known which is done: 0 to 1. */
  progress(): number
  /** How many events there are up to this record, and how many of them are before it; null: it is no record of the run. */
  upTo(seq: number): { size: number; before: number } | null
}
