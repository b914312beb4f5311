import type { ErrorRecord, Json } from '../kernel/json.ts'
import { type DatedEvent, effective, fold, newRebuilt } from '../kernel/rebuild.ts'
import { Redaction } from '../kernel/redaction.ts'
import type { TaskOutcome, TaskStatus } from '../kernel/status.ts'
import { summarise } from '../kernel/summary.ts'
import { Chronicle, contradictory } from '../scheduler/history.ts'
import type { HistoryRun } from '../scheduler/past.ts'
import type { HistoryEvent } from './event.ts'
import { historyEvent } from './history.ts'
import { pauseOf, pauseShown, type TaskInfo } from './status.ts'
import { GrowingSteps, progressOfSteps, type StepView } from './steps.ts'

/**
 * A task as of one record of its history, and the changes by that record. Secrets are hidden.
 * @example const wasFine = ({ steps }: TaskMoment) => steps.every(({ error }) => error === undefined)
 */
export interface TaskMoment {
  /** The record. Its events were one transition, so there is no state between them. */
  seq: number
  /** When it was decided. */
  at: Date
  /** The last record of the task now. */
  last: number
  /** The first record of the run: 1, or the last one before this that continued as new. */
  run: number
  /** The events of the record. */
  events: HistoryEvent[]
  /** The status of the task. */
  status: TaskStatus
  /** The outcome of the task; `pending`: it had not stopped. */
  outcome: TaskOutcome
  /** Failed attempts of all its steps. */
  failures: number
  /** The last value of `task.progress`, else the share of its known steps that was done. */
  progress: Json | undefined
  /** The output of the workflow. */
  output: Json | undefined
  /** Why it had stopped, or was paused. */
  error: ErrorRecord | undefined
  /** Why it was paused. */
  pause: TaskInfo['pause']
  /** All known steps of that run, or those of the requested range. */
  steps: StepView[]
  /** The `after` of the next range; absent if this range contains the last step. */
  next?: number
}

/** The data of which moments of a run are made: its events, and its redaction. */
export interface Past {
  /** The events of the run, after those of record 1. */
  events: readonly DatedEvent[]
  redaction: Redaction
  /** Number of events up to and including the record, and before it. */
  size: number
  before: number
  /** The first record of the run, and the last record of the task. */
  from: number
  last: number
}

/** The data of a moment, from records. Throws HISTORY_CORRUPT. */
export function* pastOf(seq: number, { records, from, last }: HistoryRun): Generator<void, Past> {
  const chronicle = new Chronicle()
  // A secret that is marked later is hidden from the beginning.
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

/** The task as of a record of the run, by the same fold that runs it. Throws HISTORY_CORRUPT. */
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
