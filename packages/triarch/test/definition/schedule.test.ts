import { describe, expect, it } from 'vitest'
import { dueAt, type ScheduleDefinition, type ScheduleState, takeDue } from '../../src/definition/schedule.ts'
import { nextAfter, type Recurrence } from '../../src/value/recurrence.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const START = Date.UTC(2026, 0, 1)

const definitionOf = (recurrence: Recurrence, { limit = 3, jitter = 0, within = null as number | null } = {}) =>
  ({
    ...{
      workflow: 'w',
      version: '1',
      input: null,
      overlap: 'allow',
      priority: 0,
      completeWithin: null,
      tags: {},
      exclusive: [],
    },
    ...{ recurrence, catchUp: { limit, within }, jitter },
  }) as ScheduleDefinition
const begun: ScheduleState = { next: START, last: null, paused: null, started: 0, skipped: 0, missed: 0 }

/** The same, one occurrence after the other. */
function plainly(definition: ScheduleDefinition, now: number) {
  const due: number[] = []
  let next: number | null = START
  for (; next !== null && dueAt('s', definition, next) <= now; next = nextAfter(definition.recurrence, next))
    due.push(next)
  const start = due.slice(-definition.catchUp.limit)
  return { start, state: { ...begun, next, last: due.at(-1) ?? null, missed: due.length - start.length } }
}

describe('occurrences that are due after an outage', () => {
  const minutely = { cron: '* * * * *', timeZone: 'Europe/Vienna' }
  it.each([
    ['an hour of every minute', minutely, START + 60 * MINUTE, {}],
    ['a month of every minute', minutely, START + 31 * DAY + 7, {}],
    ['a month with jitter', minutely, START + 31 * DAY + 7, { jitter: 45 * MINUTE, limit: 50 }],
    ['more than are looked at one by one, all of them wanted', minutely, START + 3 * DAY, { limit: 1_000 }],
    [
      'a year of the nights, through both changes of the clock',
      { cron: '*/10 2 * * *', timeZone: 'Europe/Vienna' },
      START + 365 * DAY,
      {},
    ],
    ['a month of every ten seconds', { every: 10_000, offset: 0 }, START + 31 * DAY + 3, { limit: 5 }],
  ] as const)('are the latest, and the others are counted: %s', { timeout: 300_000 }, (_, recurrence, now, options) => {
    const definition = definitionOf(recurrence, options)
    expect(takeDue('s', definition, begun, now)).toEqual(plainly(definition, now))
  })

  it('are the right ones after ten years of every second, found by few looks', () => {
    const definition = definitionOf({ cron: '* * * * * *', timeZone: 'Europe/Vienna' })
    const now = START + 3_652 * DAY + 500
    const { start, state } = takeDue('s', definition, begun, now)
    const last = now - 500
    expect(start).toEqual([last - 2_000, last - 1_000, last])
    expect(state).toMatchObject({ last, next: last + 1_000, missed: 3_652 * 86_400 + 1 - 3 })
  })

  it('are none that are too old', () => {
    const definition = definitionOf(minutely, { limit: 5, within: 2 * MINUTE })
    const { start, state } = takeDue('s', definition, begun, START + 31 * DAY)
    expect(start).toHaveLength(3)
    expect(state.missed).toBe(31 * 1_440 + 1 - 3)
  })
})
