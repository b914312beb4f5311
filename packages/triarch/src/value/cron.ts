import { Cron, CronPattern } from 'croner'

const DAY = 86_400_000
/** Days of a pattern that are counted one by one; beyond them the same density is assumed. */
const MOST_DAYS = 1_000
/** Largest number of parsed patterns that are cached. */
const MOST_KEPT = 1_000
/** Step of the search for changes of the clock; no zone changes its clock more often (ms). */
const SCAN = 5 * DAY

/**
 * If an occurrence is further away than FAR, the search continues NEAR before or after it, because nothing lies in between. A clock changes
 * by a day at most, so that the occurrence is not far any more from there, whatever the offset is (ms).
 */
const [FAR, NEAR] = [3 * DAY, 1.5 * DAY]

const kept = new Map<string, CronTimes>()

/** The occurrences of a pattern in a time zone, parsed once. Throws if either is invalid. */
export function cronTimes(cron: string, timeZone: string): CronTimes {
  const key = `${timeZone} ${cron}`
  const known = kept.get(key)
  if (known) return known
  const made = new CronTimes(cron, timeZone)
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(key, made)
  return made
}

/**
 * The occurrences of a cron pattern in a time zone. The pattern describes local times, as if the clock never changed; this class maps them
 * to instants. A pattern with certain hours means times of the day: times in a gap of the clock occur once, right after the gap, however
 * many they are, and a time that comes twice occurs the first time. A pattern of every hour means hours that pass: it occurs whenever the
 * clock shows a matching time. Instants and local times are in ms, local times as if they were UTC.
 */
export class CronTimes {
  readonly #zone: Zone
  readonly #days: Cron
  readonly #everyDay: boolean
  readonly #hours: readonly number[]
  readonly #minutes: readonly number[]
  readonly #seconds: readonly number[]
  /** Whether the pattern means hours that pass. */
  readonly #hourly: boolean
  /** The day that was last looked up, and the next matching one. */
  #after: { day: number; next: number | null } | null = null

  constructor(cron: string, timeZone: string) {
    this.#zone = new Zone(timeZone)
    this.#days = new Cron(cron, { timezone: 'UTC', paused: true })
    const { hour, minute, second, month, starDOM, starDOW, starYear } = new CronPattern(cron.trim(), 'UTC')
    this.#everyDay = starDOM && starDOW && starYear && month.every((it) => it !== 0)
    this.#hours = setOf(hour)
    this.#minutes = setOf(minute)
    this.#seconds = setOf(second)
    this.#hourly = this.#hours.length === 24
  }

  /** The first occurrence after this instant; null: none. */
  next(at: number): number | null {
    if (this.#hourly) return this.#nextHourly(at)
    const local = this.#nextLocal(this.#zone.passed(at))
    return local === null ? null : this.#zone.instant(local)
  }

  /** The last occurrence up to this instant; null: none. */
  last(at: number): number | null {
    if (this.#hourly) return this.#lastHourly(at)
    const local = this.#lastLocal(this.#zone.passed(at))
    return local === null ? null : this.#zone.instant(local)
  }

  /**
   * The number of occurrences after an instant, up to and including another. If not every day has some, those beyond 1,000 such days are
   * estimated.
   */
  count(after: number, until: number): number {
    const zone = this.#zone
    const changes = zone.changes(after, until)
    if (this.#hourly) {
      let [count, from] = [0, after + zone.offset(after)]
      for (const change of changes) {
        count += this.#countLocal(from, change - 1 + zone.offset(change - 1))
        from = change + zone.offset(change) - 1
      }
      return count + this.#countLocal(from, until + zone.offset(until))
    }
    let count = this.#countLocal(zone.passed(after), zone.passed(until))
    for (const change of changes) {
      const [gap, end] = [change + zone.offset(change - 1), change + zone.offset(change)]
      const left = end > gap ? this.#countLocal(gap - 1, end - 1) : 0
      // All occurrences in the gap count as one, which is the same as an occurrence right after the gap.
      if (left > 0) count -= left + this.#countLocal(end - 1, end) - 1
    }
    return count
  }

  #nextHourly(after: number): number | null {
    const zone = this.#zone
    for (let at = after; ; ) {
      const offset = zone.offset(at)
      const local = this.#nextLocal(at + offset)
      if (local === null) return null
      const instant = local - offset
      if (instant - at > FAR) {
        at = instant - NEAR
        continue
      }
      if (zone.offset(instant) === offset) return instant
      const change = zone.change(at, instant)
      const then = zone.offset(change)
      const behind = this.#nextLocal(change + then - 1)
      if (behind === null) return null
      if (behind === change + then) return change
      at = change
    }
  }

  #lastHourly(until: number): number | null {
    const zone = this.#zone
    for (let at = until; ; ) {
      const offset = zone.offset(at)
      const local = this.#lastLocal(at + offset)
      if (local === null) return null
      const instant = local - offset
      if (at - instant > FAR) at = instant + NEAR
      else if (zone.offset(instant) === offset) return instant
      else at = zone.change(instant, at) - 1
    }
  }

  /** The first local time of the pattern after this one. */
  #nextLocal(local: number): number | null {
    const day = Math.floor(local / DAY)
    if (this.#isDay(day)) {
      const second = this.#nextSecond(Math.floor((local - day * DAY) / 1_000) + 1)
      if (second !== null) return day * DAY + second * 1_000
    }
    const next = this.#nextDay(day)
    return next === null ? null : next * DAY + (this.#nextSecond(0) as number) * 1_000
  }

  /** The last local time of the pattern up to this one. */
  #lastLocal(local: number): number | null {
    const day = Math.floor(local / DAY)
    if (this.#isDay(day)) {
      const second = this.#lastSecond(Math.floor((local - day * DAY) / 1_000))
      if (second !== null) return day * DAY + second * 1_000
    }
    const [last] = this.#days.previousRuns(1, new Date(day * DAY))
    if (!last) return null
    return Math.floor(last.getTime() / DAY) * DAY + (this.#lastSecond(86_399) as number) * 1_000
  }

  /** The number of local times of the pattern after one, up to and including another. */
  #countLocal(after: number, until: number): number {
    if (until <= after) return 0
    const [first, last] = [Math.floor(after / DAY), Math.floor(until / DAY)]
    const upTo = (local: number, day: number) =>
      this.#isDay(day) ? this.#countSeconds(Math.floor((local - day * DAY) / 1_000)) : 0
    if (first === last) return upTo(until, last) - upTo(after, first)
    const all = this.#hours.length * this.#minutes.length * this.#seconds.length
    const begun = this.#isDay(first) ? all - upTo(after, first) : 0
    return begun + all * this.#countDays(first, last) + upTo(until, last)
  }

  /** The number of days of the pattern between two days. */
  #countDays(after: number, before: number): number {
    if (this.#everyDay) return before - after - 1
    let count = 0
    for (let day = this.#nextDay(after); day !== null && day < before; day = this.#nextDay(day)) {
      count++
      if (count === MOST_DAYS) return Math.round((count * (before - after - 1)) / (day - after))
    }
    return count
  }

  #isDay(day: number): boolean {
    return this.#everyDay || this.#nextDay(day - 1) === day
  }

  #nextDay(day: number): number | null {
    if (this.#everyDay) return day + 1
    if (this.#after && this.#after.day <= day && (this.#after.next === null || day < this.#after.next))
      return this.#after.next
    const next = this.#days.nextRun(new Date((day + 1) * DAY - 1_000))
    this.#after = { day, next: next && Math.floor(next.getTime() / DAY) }
    return this.#after.next
  }

  #nextSecond(from: number): number | null {
    for (const hour of this.#hours) {
      if (hour * 3_600 + 3_599 < from) continue
      for (const minute of this.#minutes) {
        const start = hour * 3_600 + minute * 60
        const second = this.#seconds.find((it) => start + it >= from)
        if (second !== undefined) return start + second
      }
    }
    return null
  }

  #lastSecond(until: number): number | null {
    for (const hour of this.#hours.toReversed()) {
      if (hour * 3_600 > until) continue
      for (const minute of this.#minutes.toReversed()) {
        const start = hour * 3_600 + minute * 60
        const second = this.#seconds.findLast((it) => start + it <= until)
        if (second !== undefined) return start + second
      }
    }
    return null
  }

  /** The number of times of one day, up to and including this second. */
  #countSeconds(until: number): number {
    const [hour, minute, second] = [Math.floor(until / 3_600), Math.floor(until / 60) % 60, until % 60]
    const below = (set: readonly number[], bound: number) => set.filter((it) => it < bound).length
    const [hours, minutes] = [below(this.#hours, hour), below(this.#minutes, minute)]
    let count = hours * this.#minutes.length * this.#seconds.length
    if (!this.#hours.includes(hour)) return count
    count += minutes * this.#seconds.length
    return this.#minutes.includes(minute) ? count + below(this.#seconds, second + 1) : count
  }
}

/** The offset of local time from UTC. At most one change of the clock is expected within two days. */
class Zone {
  readonly #format: Intl.DateTimeFormat | null
  /** A span of at most two days with the same offset at both ends, and therefore throughout. */
  #known = { from: 0, to: -1, offset: 0 }

  constructor(name: string) {
    const units = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
    const options = {
      ...units,
      second: '2-digit',
      hourCycle: 'h23',
      calendar: 'iso8601',
      numberingSystem: 'latn',
    } as const
    const format = new Intl.DateTimeFormat('en-CA', { timeZone: name, era: 'short', ...options })
    this.#format = format.resolvedOptions().timeZone === 'UTC' ? null : format
  }

  /** Local time less UTC at this instant (ms). */
  offset(at: number): number {
    const { from, to, offset } = this.#known
    if (at >= from && at <= to) return offset
    const asked = this.#ask(at)
    const near = asked === offset && from <= to && Math.abs(at - from) <= 2 * DAY && Math.abs(at - to) <= 2 * DAY
    this.#known = near
      ? { from: Math.min(from, at), to: Math.max(to, at), offset }
      : { from: at, to: at, offset: asked }
    return asked
  }

  #ask(at: number): number {
    if (this.#format === null) return 0
    const whole = Math.floor(at / 1_000) * 1_000
    const parts: Record<string, string> = {}
    for (const { type, value } of this.#format.formatToParts(whole)) parts[type] = value
    const [year, month, day] = [Number(parts.year), Number(parts.month), Number(parts.day)]
    return Date.UTC(year, month - 1, day, Number(parts.hour), Number(parts.minute), Number(parts.second)) - whole
  }

  /** The first instant with the offset of `after`; `before` has another one. */
  change(before: number, after: number): number {
    const offset = this.offset(after)
    let [low, high] = [before, after]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#ask(middle) === offset) high = middle
      else low = middle
    }
    return high
  }

  /** Instants after one, up to and including another, at which the offset changes. */
  changes(after: number, until: number): number[] {
    const found: number[] = []
    if (this.#format === null) return found
    for (let at = after; at < until; ) {
      const next = Math.min(at + SCAN, until)
      if (this.offset(at) !== this.offset(next)) found.push(this.change(at, next))
      at = next
    }
    return found
  }

  /** When the clock first shows this local time; for a time in a gap, when the clock was set forward. */
  instant(local: number): number {
    const [before, after] = [this.offset(local - DAY), this.offset(local + DAY)]
    if (before === after) return local - before
    if (this.offset(local - before) === before) return local - before
    if (this.offset(local - after) === after) return local - after
    return this.change(local - after, local - before)
  }

  /** The latest local time that has passed at this instant: the current one, or one from before the clock was set back. */
  passed(at: number): number {
    const [before, now] = [this.offset(at - DAY), this.offset(at)]
    if (before > now) {
      const change = this.change(at - DAY, at)
      if (at < change + before - now) return change + before - 1
    }
    return at + now
  }
}

function setOf(flags: readonly number[]): number[] {
  return flags.flatMap((flag, index) => (flag ? [index] : []))
}
