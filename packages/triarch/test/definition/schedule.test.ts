import { describe, expect, it } from 'vitest'
import type { TaskChange } from '../../src/definition/hook.ts'
import {
  dueAt,
  type ScheduleDefinition,
  type ScheduleOptions,
  type ScheduleState,
  takeDue,
  toSchedule,
} from '../../src/definition/schedule.ts'
import { workflow } from '../../src/definition/workflow.ts'
import { nextAfter, type Recurrence, toRecurrence } from '../../src/value/recurrence.ts'

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

  it('are one more than are looked at one by one, where the last of them is at this very instant', () => {
    const secondly = { every: 1_000, offset: 0 }
    for (const count of [999, 1_000, 1_001, 1_002]) {
      const definition = definitionOf(secondly, { limit: 2 })
      const now = START + (count - 1) * 1_000
      expect(takeDue('s', definition, begun, now)).toEqual(plainly(definition, now))
    }
  })

  it('are started up to the very age that is still wanted', () => {
    const definition = definitionOf(minutely, { limit: 5, within: MINUTE })
    const { start } = takeDue('s', definition, begun, START + 2 * MINUTE)
    expect(start).toEqual([START + MINUTE, START + 2 * MINUTE])
  })

  it('are due at their instant without jitter, and within the jitter after it otherwise', () => {
    expect(dueAt('s', definitionOf(minutely), START)).toBe(START)
    const jitter = definitionOf(minutely, { jitter: MINUTE })
    const shares = [0, 1, 2, 3, 4].map((n) => dueAt('s', jitter, START + n * DAY) - (START + n * DAY))
    expect(shares.every((share) => share >= 0 && share < MINUTE)).toBe(true)
    expect(new Set(shares).size).toBeGreaterThan(1)
  })
})

describe('what a schedule is given', () => {
  const nightly = workflow('nightly', { run: async (_: null) => null })
  const told = workflow('told', { run: async (_: TaskChange) => null })
  const hooked = workflow('hooked', { run: async (_: null) => null, hooks: [{ on: ['error'], workflow: told }] })
  const given = (options: Partial<Record<keyof ScheduleOptions | 'crom', unknown>>, of = nightly) =>
    toSchedule('s', { workflow: of, input: null, every: '1h', ...options } as unknown as ScheduleOptions, {
      payload: 1_000,
      resolve: () => of as never,
      share: null,
    })

  it.each<[what: string, options: Parameters<typeof given>[0], problem: RegExp]>([
    ['an option that there is not', { crom: '* * * * *' }, /crom/],
    ['an option of catching up that there is not', { catchUp: { limits: 1 } }, /limits/],
    ['no overlap', { overlap: 'sometimes' }, /overlap must be one of skip, queue, allow, cancel-previous/],
    ['both a pattern and an interval', { cron: '* * * * *' }, /either `cron` or `every`/],
    ['neither a pattern nor an interval', { every: undefined }, /either `cron` or `every`/],
    ['a zone for an interval', { timeZone: 'UTC' }, /`timeZone` is for cron patterns/],
    ['a grid for a pattern', { every: undefined, cron: '* * * * *', from: new Date(0) }, /`from` is for intervals/],
    ['no date', { from: new Date(Number.NaN) }, /`from` is not a valid date/],
    ['no text as a pattern', { every: undefined, cron: 5 }, /`cron` must be a string/],
    ['no pattern', { every: undefined, cron: 'soon' }, /^schedule "s": /],
    ['a pattern that never occurs', { every: undefined, cron: '0 0 30 2 *' }, /no instant ever matches/],
    ['a zone that there is not', { every: undefined, cron: '* * * * *', timeZone: 'Atlantis' }, /^schedule "s": /],
  ])('is refused where it is %s', async (_, options, problem) => {
    await expect(given(options)).rejects.toMatchObject({
      code: expect.stringMatching(/^(INVALID|UNKNOWN)_OPTION$/),
      message: expect.stringMatching(problem),
    })
  })

  it('is kept as it is meant, with what is not given left out', async () => {
    const plain = await given({})
    expect(plain).toMatchObject({
      overlap: 'skip',
      jitter: 0,
      catchUp: { limit: 1, within: null },
      completeWithin: null,
    })
    for (const key of ['metadata', 'hooks', 'secrets', 'share']) expect(Object.keys(plain)).not.toContain(key)
    const full = await given({ jitter: '5s', metadata: { of: 'us' }, catchUp: { limit: 2, within: '1m' } })
    expect(full).toMatchObject({ jitter: 5_000, metadata: { of: 'us' }, catchUp: { limit: 2, within: 60_000 } })
    expect(hooked.definition.hooks).toBeDefined()
    expect((await given({}, hooked as never)).hooks).toHaveLength(1)
  })

  it('has its interval counted from an instant of the grid, or from 1970', () => {
    const from = new Date(Date.UTC(2026, 0, 1, 0, 20))
    expect(toRecurrence('it', { every: '1h', from })).toEqual({ every: 3_600_000, offset: 20 * MINUTE })
    expect(toRecurrence('it', { every: '1h', from: new Date(-MINUTE) })).toMatchObject({ offset: 59 * MINUTE })
    expect(toRecurrence('it', { every: '1h' })).toEqual({ every: 3_600_000, offset: 0 })
  })
})
