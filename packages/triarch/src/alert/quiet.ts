import { TriarchError } from '../error/error.ts'
import { checkOptions } from '../value/options.ts'
import { nextAfter, type Recurrence, toRecurrence } from '../value/recurrence.ts'

/**
 * Hours of each day in which a sink is left alone: what comes then is told after them, unless it has ended.
 * @example const nights: QuietHours = { from: '22:00', to: '07:00', timeZone: 'Europe/Vienna' }
 */
export interface QuietHours {
  /** When they begin, by the clock on the wall: '22:00'. */
  from: string
  /** When they are over: '07:00'. */
  to: string
  /** Whose clock that is, such as 'Europe/Vienna'; 'UTC'. */
  timeZone?: string
  /** What is told all the same: what is critical; nothing. */
  except?: 'critical'
}

/** Quiet hours, looked through. */
export interface Quiet {
  from: Recurrence
  to: Recurrence
  except: 'critical' | null
}

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/

/** Throws INVALID_OPTION, UNKNOWN_OPTION. */
export function quietOf(what: string, given: QuietHours): Quiet {
  checkOptions(what, given ?? null, ['from', 'to', 'timeZone', 'except'])
  const { from, to, timeZone, except = null } = given
  if (from === to) throw new TriarchError('INVALID_OPTION', `${what}: from and to are the same`)
  if (except !== null && except !== 'critical')
    throw new TriarchError('INVALID_OPTION', `${what}: except must be "critical"`)
  const daily = (time: string) => {
    const [, hour, minute] = TIME.exec(typeof time === 'string' ? time : '') ?? []
    if (hour === undefined) throw new TriarchError('INVALID_OPTION', `${what}: from and to must be such as "22:00"`)
    const cron = `${Number(minute)} ${Number(hour)} * * *`
    return toRecurrence(what, { cron, ...(timeZone !== undefined && { timeZone }) })
  }
  return { from: daily(from), to: daily(to), except }
}

/** When they are over (ms since the epoch); null: it is not quiet at this instant. */
export function quietUntil({ from, to }: Quiet, now: number): number | null {
  const [begins, ends] = [nextAfter(from, now), nextAfter(to, now)]
  return begins !== null && ends !== null && ends < begins ? ends : null
}
