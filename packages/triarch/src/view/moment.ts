import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { DatedEvent } from '../kernel/rebuild.ts'
import { hideAt, scrub } from '../kernel/secret.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import { summarise } from '../kernel/summary.ts'
import { Chronicle, foldOf } from '../scheduler/history.ts'
import type { Run } from '../scheduler/past.ts'
import type { HistoryEvent } from './event.ts'
import { historyEvent } from './history.ts'
import { redacted, redactionOf } from './redaction.ts'
import { pauseOf, type TaskInfo } from './status.ts'
import { progressOfSteps, type StepView, stepViews } from './steps.ts'

/**
 * A task as it was when a record of its history had just been written, and what that record changed. Nothing secret is in it.
 * @example const wasFine = ({ steps }: TaskMoment) => steps.every(({ error }) => error === undefined)
 */
export interface TaskMoment {
  /** The record. All of its events were one transition: there was nothing to be seen between them. */
  seq: number
  /** When it was decided. */
  at: Date
  /** The last record of the task now. */
  last: number
  /** The record with which the run began that this one belongs to: 1, or the last one before it that continued as new. */
  run: number
  /** What happened then. */
  events: HistoryEvent[]
  /** Where the task was between submission and end. */
  status: TaskStatus
  /** How it had ended; `pending`: it had not stopped. */
  outcome: TaskOutcome
  /** Failed attempts of all its steps. */
  failures: number
  /** What its workflow had said by `task.progress`, else the share of its known steps that was done. */
  progress: Json | undefined
  /** What its workflow had returned. */
  output: Json | undefined
  /** Why it had stopped, or was paused. */
  error: ErrorRecord | undefined
  /** Why it was paused. */
  pause: TaskInfo['pause']
  /** Every step of that run which was known. */
  steps: StepView[]
}

/** The task as of a record of the run, by the fold that also runs it. Throws HISTORY_CORRUPT. */
export function momentOf(id: string, seq: number, { records, from, last }: Run): TaskMoment {
  const chronicle = new Chronicle()
  let size = 0
  let own = 0
  for (const record of records) {
    chronicle.add(record)
    if (record.seq < seq) own = chronicle.events.length
    if (record.seq <= seq) size = chronicle.events.length
  }
  // What is marked as secret later on is hidden from the beginning.
  const redaction = redactionOf(chronicle.events.map(({ event }) => event))
  const history: DatedEvent[] = chronicle.events.slice(0, size)
  const { state } = foldOf(id, history)
  const { status, result, failures, progress, output, error, pause } = summarise(state)
  const steps = stepViews(id, history, redaction)
  const said = state.progress === undefined && state.begun ? progressOfSteps(steps) : (progress ?? 0)
  const moment: Omit<TaskMoment, 'events'> = {
    ...{ seq, at: new Date(history.at(-1)?.at ?? 0), last, run: from, status, outcome: result, failures },
    progress: hideAt(said, redaction.workflow),
    output: output === undefined ? undefined : hideAt(output, redaction.workflow),
    ...{ error, pause: pauseOf(pause ?? undefined), steps },
  }
  const events = history.slice(own).map(({ event }) => historyEvent(redacted(event, redaction)))
  return { ...scrub(moment, redaction.texts), events }
}
