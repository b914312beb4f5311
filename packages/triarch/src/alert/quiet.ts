import { TriarchError } from '../error/error.ts'
import { checkOptions } from '../value/options.ts'
import { nextAfter, type Recurrence, toRecurrence } from '../value/recurrence.ts'

/**
 * Hours of each day in which a sink is not notified. Notifications are sent afterwards, unless the alert has ended.
 * @example const nights: QuietHours = { from: '22:00', to: '07:00', timeZone: 'Europe/Vienna' }
 */
export interface QuietHours {
  /** When they begin, in local time: '22:00'. */
  from: string
  /** When they end: '07:00'. */
  to: string
  /** The time zone, such as 'Europe/Vienna'; 'UTC'. */
  timeZone?: string
  /** Sends critical alerts all the same; none. */
  except?: 'critical'
}

/** Checked quiet hours. */
export interface Quiet {
  from: Recurrence
  to: Recurrence
  except: 'critical' | null
}

const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/

/** Checks the options. Throws INVALID_OPTION, UNKNOWN_OPTION. */
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

/** When the current quiet hours end (ms since the epoch); null: there are none at this instant. */
export function quietUntil({ from, to }: Quiet, now: number): number | null {
  const [begins, ends] = [nextAfter(from, now), nextAfter(to, now)]
  return begins !== null && ends !== null && ends < begins ? ends : null
}
