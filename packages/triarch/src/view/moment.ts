import type { ErrorRecord, Json } from '../kernel/json.ts'
import { type DatedEvent, effective, fold, newRebuilt } from '../kernel/rebuild.ts'
import { Redaction } from '../kernel/redaction.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import { summarise } from '../kernel/summary.ts'
import { Chronicle, contradictory } from '../scheduler/history.ts'
import type { Run } from '../scheduler/past.ts'
import type { HistoryEvent } from './event.ts'
import { historyEvent } from './history.ts'
import { pauseOf, pauseShown, type TaskInfo } from './status.ts'
import { GrowingSteps, progressOfSteps, type StepView } from './steps.ts'

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
  /** Every step of that run which was known, or those of the range that was asked for. */
  steps: StepView[]
  /** The last of these steps, where the range ends before the last step of all: the `after` of the next. */
  next?: number
}

/** What a moment is made of: the events of the run, and what may be shown of them. */
export interface Past {
  /** The events of the run, after those of record 1. */
  events: readonly DatedEvent[]
  redaction: Redaction
  /** How many of the events there are up to the record, and how many before it. */
  size: number
  before: number
  /** The record with which the run begins, and the last record of the task. */
  from: number
  last: number
}

/** The same of records. Throws HISTORY_CORRUPT. */
export function* pastOf(seq: number, { records, from, last }: Run): Generator<void, Past> {
  const chronicle = new Chronicle()
  // What is marked as secret later on is hidden from the beginning.
  const redaction = new Redaction()
  let [size, before] = [0, 0]
  for (const record of records) {
    const read = chronicle.events.length
    chronicle.add(record)
    for (const { event } of chronicle.events.slice(read)) redaction.add(event)
    if (record.seq < seq) before = chronicle.events.length
    if (record.seq <= seq) size = chronicle.events.length
    yield
  }
  return { events: chronicle.events, redaction, size, before, from, last }
}

/** The task as of a record of the run, by the fold that also runs it. Throws HISTORY_CORRUPT. */
export function* momentOf(id: string, seq: number, past: Past): Generator<void, TaskMoment> {
  const { redaction, size, before, from, last } = past
  const history = past.events.slice(0, size)
  const rebuilt = newRebuilt(id)
  const growing = new GrowingSteps()
  for (const dated of effective(history)) {
    try {
      fold(rebuilt, dated)
    } catch (cause) {
      throw contradictory(cause)
    }
    growing.add(dated, redaction)
    yield
  }
  const { state } = rebuilt
  const { status, result, failures, progress, output, error, pause } = summarise(state)
  const steps = growing.shown(state)
  const said = state.progress === undefined && state.begun ? progressOfSteps(steps) : (progress ?? 0)
  const moment: Omit<TaskMoment, 'events'> = {
    ...{ seq, at: new Date(history.at(-1)?.at ?? 0), last, run: from, status, outcome: result, failures },
    ...{ progress: redaction.hide(said), output: redaction.hide(output), error: redaction.texts.scrub(error) },
    ...{ pause: pauseShown(pauseOf(pause ?? undefined), redaction), steps },
  }
  const events = history.slice(before).map(({ event }) => historyEvent(redaction.shown(event)))
  return { ...moment, events }
}
