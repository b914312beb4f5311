import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/environment/random.ts'
import { between, countBetween, lastUpTo, nextAfter, toRecurrence } from '../../src/value/recurrence.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const zones = [
  ...['America/Nuuk', 'Africa/Casablanca', 'Australia/Lord_Howe', 'Asia/Beirut', 'Europe/Vienna', 'America/New_York'],
  ...['Pacific/Apia', 'America/Sao_Paulo', 'Africa/Cairo', 'Asia/Kathmandu', 'UTC', 'Europe/London'],
  'Pacific/Kiritimati',
]

/** A pattern, and what it says, written again for the oracle. */
interface Pattern {
  cron: string
  minutes: (minute: number) => boolean
  hours: ((hour: number) => boolean) | null
  day?: (date: Date) => boolean
}

const patterns: Pattern[] = [
  { cron: '*/5 * * * *', minutes: (it) => it % 5 === 0, hours: null },
  { cron: '*/15 * * * *', minutes: (it) => it % 15 === 0, hours: null },
  { cron: '0 * * * *', minutes: (it) => it === 0, hours: null },
  { cron: '7,37 0-23 * * *', minutes: (it) => it === 7 || it === 37, hours: null },
  { cron: '20 * * * 1', minutes: (it) => it === 20, hours: null, day: (date) => date.getUTCDay() === 1 },
  { cron: '30 2 * * *', minutes: (it) => it === 30, hours: (it) => it === 2 },
  { cron: '*/15 2 * * *', minutes: (it) => it % 15 === 0, hours: (it) => it === 2 },
  { cron: '0,30 0-3 * * *', minutes: (it) => it % 30 === 0, hours: (it) => it <= 3 },
  { cron: '0 */2 * * *', minutes: (it) => it === 0, hours: (it) => it % 2 === 0 },
  { cron: '* 1-2 * * *', minutes: () => true, hours: (it) => it === 1 || it === 2 },
  { cron: '0 0 * * *', minutes: (it) => it === 0, hours: (it) => it === 0 },
  {
    cron: '15 22,23,0 * * 0',
    minutes: (it) => it === 15,
    hours: (it) => it >= 22 || it === 0,
    day: (date) => date.getUTCDay() === 0,
  },
  { cron: '45 23 * * 6', minutes: (it) => it === 45, hours: (it) => it === 23, day: (date) => date.getUTCDay() === 6 },
]

/** What the clock shows at each minute of a span, as minutes of a clock that never changes. */
function shown(zone: string, from: number, to: number): { at: number; local: number }[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  })
  const minutes: { at: number; local: number }[] = []
  for (let at = from; at <= to; at += MINUTE) {
    minutes.push({ at, local: Date.parse(`${format.format(at).replace(' ', 'T')}:00Z`) / MINUTE })
  }
  return minutes
}

/** Minute by minute: nothing here knows of offsets or changes of the clock. */
function expected({ minutes, hours, day }: Pattern, clock: { at: number; local: number }[]): number[] {
  const matches = (local: number) => {
    const date = new Date(local * MINUTE)
    return minutes(date.getUTCMinutes()) && (hours?.(date.getUTCHours()) ?? true) && (day?.(date) ?? true)
  }
  const found: number[] = []
  let [latest] = clock.map(({ local }) => local - 1)
  for (const { at, local } of clock) {
    if (hours === null) {
      if (matches(local)) found.push(at)
      continue
    }
    // Every local minute that has passed for the first time since the minute before.
    let any = false
    for (let passed = (latest as number) + 1; passed <= local; passed++) any ||= matches(passed)
    if (any) found.push(at)
    latest = Math.max(latest as number, local)
  }
  return found
}

/** Days of the year on which the clock changes, looked for by itself. */
function changes(zone: string, year: number): number[] {
  const days: number[] = []
  const name = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  const offset = (at: number) => name.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += DAY)
    if (offset(at) !== offset(at + DAY)) days.push(at)
  return days
}

describe('cron patterns in zones whose clocks change', () => {
  const random = seededRandom(22)
  it.each(zones)('occur as an enumeration minute by minute says: %s', { timeout: 600_000 }, (zone) => {
    for (const year of [2024, 1995 + Math.floor(random() * 42)]) {
      const [one = Date.UTC(year, 5, 1), two = one + 90 * DAY, ...more] = changes(zone, year)
      for (const change of [one, two, ...more].slice(0, 2)) {
        const [from, to] = [change - DAY, change + 2 * DAY]
        const clock = shown(zone, from - HOUR * 12, to)
        for (const pattern of patterns.filter(() => random() < 0.5)) {
          const recurrence = toRecurrence('a schedule', { cron: pattern.cron, timeZone: zone })
          const right = expected(pattern, clock).filter((at) => at > from)
          const what = `${pattern.cron} in ${zone} about ${new Date(change).toISOString()}`
          const times = (found: readonly number[]) => found.map((at) => new Date(at).toISOString())
          expect(times(between(recurrence, from, to, 100_000)), what).toEqual(times(right))
          expect(countBetween(recurrence, from, to), what).toBe(right.length)
          const back: number[] = []
          for (let at = lastUpTo(recurrence, to); at !== null && at > from; at = lastUpTo(recurrence, at - 1))
            back.push(at)
          expect(times(back.reverse()), what).toEqual(times(right))
          // From any instant on, also from within an hour that comes twice.
          const any = from + Math.floor(random() * (to - from))
          expect(nextAfter(recurrence, any), what).toBe(right.find((at) => at > any) ?? nextAfter(recurrence, to))
        }
      }
    }
  })

  it.each([
    ['*/15 2 * * *', 'Europe/Vienna', '2026-03-29T00:00:00Z', ['2026-03-29T01:00:00.000Z', '2026-03-30T00:00:00.000Z']],
    ['0 0 * * *', 'America/Nuuk', '2024-03-30T12:00:00Z', ['2024-03-31T01:00:00.000Z', '2024-04-01T01:00:00.000Z']],
    ['30 2 * * *', 'Europe/Vienna', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
    ['0 12 L * *', 'Europe/Vienna', '2026-02-01T00:00:00Z', ['2026-02-28T11:00:00.000Z', '2026-03-31T10:00:00.000Z']],
    [
      '0 9 * * 1#1',
      'America/New_York',
      '2026-03-01T00:00:00Z',
      ['2026-03-02T14:00:00.000Z', '2026-04-06T13:00:00.000Z'],
    ],
    [
      '*/20 30 2 29 3 *',
      'Europe/Vienna',
      '2026-01-01T00:00:00Z',
      ['2026-03-29T01:00:00.000Z', '2027-03-29T00:30:00.000Z'],
    ],
  ])('%s in %s after %s: %j', (cron, timeZone, after, times) => {
    const recurrence = toRecurrence('a schedule', { cron, timeZone })
    expect(
      between(recurrence, Date.parse(after), Number.MAX_SAFE_INTEGER, 2).map((at) => new Date(at).toISOString()),
    ).toEqual(times)
  })

  it('are found forwards and backwards where the clock is fourteen hours ahead, or is put forward by a day', () => {
    for (const timeZone of ['Pacific/Apia', 'Pacific/Kiritimati', 'Etc/GMT+12'])
      for (const { cron } of patterns) {
        const recurrence = toRecurrence('a schedule', { cron, timeZone })
        const [from, to] = [Date.UTC(2011, 11, 10), Date.UTC(2012, 0, 20)]
        const found = between(recurrence, from, to, 100_000)
        const back: number[] = []
        for (let at = lastUpTo(recurrence, to); at !== null && at > from; at = lastUpTo(recurrence, at - 1))
          back.push(at)
        expect(back.reverse(), `${cron} in ${timeZone}`).toEqual(found)
        expect(countBetween(recurrence, from, to), `${cron} in ${timeZone}`).toBe(found.length)
      }
  })

  it('are counted over years as they are enumerated', () => {
    for (const [cron, timeZone] of [
      ['*/30 1-2 * * *', 'Europe/Vienna'],
      ['0 * * * 1-5', 'America/New_York'],
      ['15 0 1,15 * *', 'America/Nuuk'],
    ] as const) {
      const recurrence = toRecurrence('a schedule', { cron, timeZone })
      const [from, to] = [Date.UTC(2022, 4, 7, 3, 20), Date.UTC(2025, 2, 30, 1, 10)]
      expect(countBetween(recurrence, from, to)).toBe(between(recurrence, from, to, 1_000_000).length)
    }
  })
})
