import { TriarchError } from '../error/error.ts'
import { cronTimes } from './cron.ts'
import { type Duration, positiveMilliseconds } from './duration.ts'

/** The times at which something recurs, as data. */
export type Recurrence = { cron: string; timeZone: string } | { every: number; offset: number }

/**
 * The times at which something recurs: a cron pattern or an interval.
 * @example
 * const nights: RecurrenceOptions = { cron: '0 3 * * *', timeZone: 'Europe/Vienna' }
 * const hours: RecurrenceOptions = { every: '1h' }
 */
export interface RecurrenceOptions {
  /** Minute, hour, day, month, weekday (a field before: second; one after: year), or `@daily` and the like. */
  cron?: string
  /** The time zone of the cron pattern, such as 'Europe/Vienna'; 'UTC'. */
  timeZone?: string
  /** In place of `cron`: an interval, counted from `from`. */
  every?: Duration
  /** Any instant of the interval's grid; 1 January 1970, so that '1d' is midnight UTC. */
  from?: Date
}

/** Checks the options. Throws INVALID_OPTION, INVALID_DURATION. */
export function toRecurrence(what: string, { cron, timeZone, every, from }: RecurrenceOptions): Recurrence {
  if ((cron === undefined) === (every === undefined)) throw invalid(what, 'give either `cron` or `every`')
  if (every !== undefined) {
    if (timeZone !== undefined) throw invalid(what, '`timeZone` is for cron patterns')
    const span = positiveMilliseconds(every, `${what}: every`)
    const start = from === undefined ? 0 : from.getTime()
    if (Number.isNaN(start)) throw invalid(what, '`from` is not a valid date')
    return { every: span, offset: ((start % span) + span) % span }
  }
  if (from !== undefined) throw invalid(what, '`from` is for intervals')
  if (typeof cron !== 'string') throw invalid(what, '`cron` must be a string')
  const recurrence = { cron, timeZone: timeZone ?? 'UTC' }
  let first: number | null
  try {
    first = nextAfter(recurrence, 0)
  } catch (cause) {
    throw new TriarchError('INVALID_OPTION', `${what}: ${(cause as Error).message}`, { cause })
  }
  if (first === null) throw invalid(what, `no instant ever matches \`cron\` "${cron}"`)
  return recurrence
}

/** The first occurrence after this instant; null: there is none. */
export function nextAfter(recurrence: Recurrence, at: number): number | null {
  if ('every' in recurrence) {
    const { every, offset } = recurrence
    return Math.floor((at - offset) / every) * every + every + offset
  }
  return cronTimes(recurrence.cron, recurrence.timeZone).next(at)
}

/** The last occurrence up to this instant; null: there is none. */
export function lastUpTo(recurrence: Recurrence, at: number): number | null {
  if ('every' in recurrence) {
    const { every, offset } = recurrence
    return Math.floor((at - offset) / every) * every + offset
  }
  return cronTimes(recurrence.cron, recurrence.timeZone).last(at)
}

/** The number of occurrences after `after`, up to and including `until`. */
export function countBetween(recurrence: Recurrence, after: number, until: number): number {
  if (until <= after) return 0
  if ('every' in recurrence) {
    const { every, offset } = recurrence
    return Math.floor((until - offset) / every) - Math.floor((after - offset) / every)
  }
  return cronTimes(recurrence.cron, recurrence.timeZone).count(after, until)
}

/** The first occurrences after `after`, up to and including `until`, at most `most` of them. */
export function between(recurrence: Recurrence, after: number, until: number, most: number): number[] {
  const found: number[] = []
  for (let at = nextAfter(recurrence, after); at !== null && at <= until && found.length < most; ) {
    found.push(at)
    at = nextAfter(recurrence, at)
  }
  return found
}

function invalid(what: string, problem: string): TriarchError {
  return new TriarchError('INVALID_OPTION', `${what}: ${problem}`)
}
