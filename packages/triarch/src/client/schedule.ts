import type { Overlap, ScheduleOptions } from '../definition/schedule.ts'
import type { ErrorRecord, Json } from '../kernel/json.ts'
import type { Recurrence } from '../value/recurrence.ts'
import type { SettingPause } from '../view/pause.ts'

/**
 * The state of a schedule.
 * @example const { next, started, failing } = await schedule.info()
 */
export interface ScheduleInfo {
  /** The name under which it was registered. */
  name: string
  /** The workflow that it starts. */
  workflow: string
  /** The version of the workflow. */
  version: string
  /** The input of each task, without what is marked as secret. */
  input: Json
  /** Its pattern and time zone, or its interval in ms. */
  recurrence: Recurrence
  /** What happens to an occurrence while the task of an earlier one has not stopped. */
  overlap: Overlap
  /** Since when it is paused, and the operator's reason; undefined: it is not paused. */
  paused: { since: Date; reason?: string } | undefined
  /** The pause set by an operator in the setting `triarch.schedules`, for this schedule or its group; absent: none. */
  pausedBy?: SettingPause
  /** When it next starts tasks, jitter included; undefined: it is paused, or never does again. */
  next: Date | undefined
  /** The last occurrence that was due. */
  last: Date | undefined
  /** Occurrences that became tasks. */
  started: number
  /** Occurrences that were skipped because an earlier one had not stopped. */
  skipped: number
  /** Occurrences that were not started at their time, or too late. */
  missed: number
  /** Since when its tasks cannot be started, how many tries have failed in a row, and why. It is retried automatically. */
  failing: { since: Date; times: number; error: ErrorRecord } | undefined
}

/**
 * Which past occurrences to start.
 * @example
 * const week = { from: new Date('2026-01-01'), to: new Date('2026-01-08') }
 * await schedule.backfill({ ...week, overlap: 'allow' })
 */
export interface BackfillOptions {
  /** Occurrences after this instant, up to and including `to`. */
  from: Date
  /** The last instant that is included. */
  to: Date
  /** What happens to an occurrence while the task of an earlier one has not stopped; `queue`: one after the other. */
  overlap?: Overlap
  /** The reason, kept in the audit. */
  reason?: string
}

/**
 * A run in addition to the scheduled ones.
 * @example const id = await triarch.schedules.get('nightly').run({ reason: 'the files came late' })
 */
export interface ScheduleRunOptions {
  /** The id of its task; the same id again does nothing. By default, as for its runs, the name of the schedule and the instant. */
  id?: string
  /** What happens while the task of an occurrence has not stopped; `queue`: the run waits for that. */
  overlap?: Overlap
  /** The reason for the audit: up to 1,000 characters. */
  reason?: string
}

/**
 * Which schedules to list, and how many.
 * @example const { schedules } = await triarch.schedules.list({ limit: 50 })
 */
export interface SchedulesOptions {
  /** `next` of the previous page. */
  cursor?: string
  /** Schedules a page: 1 to 1,000; 100. */
  limit?: number
}

/**
 * A page of the schedules, by name.
 * @example
 * const page = await triarch.schedules.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.schedules.list({ cursor: page.next })
 */
export interface SchedulePage {
  /** The schedules of this page. */
  schedules: ScheduleInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/**
 * A schedule by its name. Every method but register() throws UNKNOWN_SCHEDULE when there is none.
 * @example
 * const nightly = triarch.schedules.get('nightly')
 * await nightly.register({ workflow: fulfil, input: order, every: '1d' })
 * console.log(await nightly.next(3))
 */
export interface ScheduleHandle {
  /** The name under which it was registered. */
  readonly name: string

  /**
   * Starts a task of a workflow repeatedly from now on, or changes when and which; the same definition again changes nothing. Throws
   * UNKNOWN_WORKFLOW, UNKNOWN_OPTION, INVALID_*, PAYLOAD_TOO_LARGE, STORE_*.
   * @example
   * const when = { cron: '0 3 * * *', timeZone: 'Europe/Vienna' }
   * await schedule.register({ workflow: fulfil, input: order, ...when })
   */
  register<I, O>(options: ScheduleOptions<I, O>): Promise<void>

  /**
   * Its current state.
   * @example const { next, failing } = await schedule.info()
   */
  info(): Promise<ScheduleInfo>

  /**
   * The next occurrences, without jitter: 1 to 1,000. A pause does not remove them.
   * @example const [tomorrow] = await schedule.next(1)
   */
  next(count?: number): Promise<Date[]>

  /**
   * Pauses: occurrences are missed until resume().
   * @example await schedule.pause({ reason: 'stock-taking' })
   */
  pause(options?: { reason?: string }): Promise<void>

  /**
   * Goes on with the next occurrence. The reason is kept in the audit.
   * @example await schedule.resume({ reason: 'all is counted' })
   */
  resume(options?: { reason?: string }): Promise<void>

  /**
   * Starts the occurrences of a past period, and returns the ids of their tasks. One that has a task already keeps it. Throws
   * INVALID_OPTION, also for more than 1,000.
   * @example const ids = await schedule.backfill({ from: new Date('2026-01-01'), to: new Date('2026-01-08') })
   */
  backfill(options: BackfillOptions): Promise<string[]>

  /**
   * Starts one of its tasks now, in addition to its occurrences and even while paused; it is not counted among them. Returns the id.
   * Throws INVALID_NAME, INVALID_OPTION, LOCK_HELD (`overlap` is `skip`, and one has not stopped).
   * @example const task = triarch.tasks.get(await schedule.run())
   */
  run(options?: ScheduleRunOptions): Promise<string>

  /**
   * Deletes the schedule. Its tasks stay as they are. `reason`: kept in the audit, up to 1,000 characters. Throws UNKNOWN_SCHEDULE,
   * UNKNOWN_OPTION, INVALID_OPTION.
   * @example await schedule.remove({ reason: 'the report is not wanted any more' })
   */
  remove(options?: { reason?: string }): Promise<void>
}

/**
 * The schedules.
 * @example const { schedules }: SchedulePage = await triarch.schedules.list()
 */
export interface ScheduleCollection {
  /**
   * A schedule by its name; whether it exists is only checked when it is used. Throws INVALID_NAME.
   * @example
   * const when = { cron: '0 3 * * *', timeZone: 'Europe/Vienna' }
   * await triarch.schedules.get('nightly').register({ workflow: fulfil, input: order, ...when })
   */
  get(name: string): ScheduleHandle

  /**
   * Schedules by name, a page at a time. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { schedules, next } = await triarch.schedules.list({ limit: 50 })
   * for (const { name, failing } of schedules) console.log(name, failing?.error.message ?? 'well')
   */
  list(options?: SchedulesOptions): Promise<SchedulePage>
}
