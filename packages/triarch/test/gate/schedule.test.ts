import { describe, expect, it } from 'vitest'
import { type Role, type ScheduleOptions, type TaskContext, type Triarch, workflow } from '../../src/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { codeOf, type Stage, stage } from '../engine/harness.ts'
import { scratch } from '../engine/scratch.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const report = workflow('report', { run: (_: unknown, task: TaskContext) => task.id })
const long = workflow('long', { run: (_: unknown, task: TaskContext) => task.sleep('90m') })
const workflows = [report, long]

async function at(start: string, options: object = {}): Promise<Stage> {
  const environment = new VirtualEnvironment({ start: new Date(start) })
  return stage({ workflows, environment, sweep: '1m', ...options })
}

/** The instants of the schedule's occurrences that became tasks. */
async function started({ triarch }: { triarch: Triarch }, name: string): Promise<string[]> {
  const { tasks } = await triarch.tasks.list({ tags: { schedule: name }, order: 'oldest', limit: 1_000 })
  return tasks.map(({ id }) => id.slice(name.length + 1, -8)).sort()
}

const daily = (change: Partial<ScheduleOptions> = {}): ScheduleOptions => ({
  ...{ workflow: report, input: 1, cron: '30 2 * * *', timeZone: 'Europe/Vienna' },
  ...change,
})

describe('a schedule', () => {
  it('starts one task for each occurrence, named after it', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    const schedule = s.engine.triarch.schedules.get('hourly')
    await schedule.register({ workflow: report, input: 1, every: '1h' })
    await s.advance('3h')
    await s.advance('2m')
    expect(await started(s.engine, 'hourly')).toEqual(['2026-01-01T01:00', '2026-01-01T02:00', '2026-01-01T03:00'])
    const task = s.engine.tasks.get('hourly@2026-01-01T01:00:00.000Z')
    expect(await task.result()).toBe('hourly@2026-01-01T01:00:00.000Z')
    expect(await schedule.info()).toMatchObject({
      ...{ started: 3, skipped: 0, missed: 0, last: new Date('2026-01-01T03:00:00Z') },
      next: new Date('2026-01-01T04:00:00Z'),
    })
  })

  it('keeps to the local time over the change to summer time, and runs what it leaves out right after', async () => {
    await using s = await at('2026-03-27T12:00:00Z', { sweep: '10m' })
    const schedule = s.engine.triarch.schedules.get('nightly')
    await schedule.register(daily())
    const soon = ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']
    expect((await schedule.next(3)).map((it) => it.toISOString().slice(0, 16))).toEqual(soon)
    for (let hour = 0; hour < 72; hour++) await s.advance('1h')
    expect(await started(s.engine, 'nightly')).toEqual(soon)
  })

  it('runs once at a local time that comes twice, and each hour of it where it runs every hour', async () => {
    await using s = await at('2026-10-24T20:00:00Z')
    await s.engine.triarch.schedules.get('nightly').register(daily())
    await s.engine.triarch.schedules.get('hourly').register(daily({ cron: '30 * * * *' }))
    for (let hour = 0; hour < 8; hour++) await s.advance('1h')
    expect(await started(s.engine, 'nightly')).toEqual(['2026-10-25T00:30'])
    expect(await started(s.engine, 'hourly')).toEqual(
      [20, 21, 22, 23].map((hour) => `2026-10-24T${hour}:30`).concat([0, 1, 2, 3].map((it) => `2026-10-25T0${it}:30`)),
    )
  })

  it('is the same when it is registered again, and goes on differently when it is changed', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    const { triarch } = s.engine
    const every = (hours: number) =>
      triarch.schedules.get('x').register({ workflow: report, input: 1, every: `${hours}h` })
    await Promise.all([every(1), every(1), every(1)])
    const [row] = await s.store.schedules({ name: 'x', limit: 1 })
    expect(row?.revision).toBe(1)
    await s.advance('61m')
    await every(6)
    await s.advance('12h')
    expect(await started(s.engine, 'x')).toEqual(['2026-01-01T01:00', '2026-01-01T06:00', '2026-01-01T12:00'])
    expect((await triarch.schedules.list()).schedules.map(({ name, started }) => [name, started])).toEqual([['x', 3]])
    const handle = triarch.schedules.get('x')
    await handle.remove()
    await s.advance('1d')
    expect(await started(s.engine, 'x')).toHaveLength(3)
    expect(await codeOf(handle.info())).toBe('UNKNOWN_SCHEDULE')
  })

  it('does not count as started what was there already under the id of its occurrence', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    await s.submit(report, 1, { id: 'x@2026-01-01T02:00:00.000Z' })
    const schedule = s.engine.triarch.schedules.get('x')
    await schedule.register({ workflow: report, input: 1, every: '1h' })
    await s.advance('3h')
    await s.advance('2m')
    expect(await schedule.info()).toMatchObject({ started: 2, skipped: 0, missed: 0 })
  })

  it.each([
    ['skip', ['T01', 'T03', 'T05'], { started: 3, skipped: 2 }],
    ['queue', ['T01', 'T02', 'T03', 'T04', 'T05'], { started: 5 }],
    ['allow', ['T01', 'T02', 'T03', 'T04', 'T05'], { started: 5 }],
    ['cancel-previous', ['T01', 'T02', 'T03', 'T04', 'T05'], { started: 5 }],
  ] as const)('%s: what comes while an earlier one has not stopped', async (overlap, hours, counts) => {
    await using s = await at('2026-01-01T00:00:00Z')
    const { triarch } = s.engine
    const schedule = triarch.schedules.get('x')
    await schedule.register({ workflow: long, input: 1, every: '1h', overlap })
    await s.advance('5h')
    await s.advance('2m')
    expect((await started(s.engine, 'x')).map((it) => it.slice(10, 13))).toEqual(hours)
    expect(await schedule.info()).toMatchObject(counts)
    const outcomes = async () => (await triarch.tasks.list({ order: 'oldest' })).tasks.map(({ outcome }) => outcome)
    const first = {
      skip: ['success', 'success', 'pending'],
      queue: ['success', 'success', 'pending', 'pending', 'pending'],
      allow: ['success', 'success', 'success', 'pending', 'pending'],
      'cancel-previous': ['cancelled', 'cancelled', 'cancelled', 'cancelled', 'pending'],
    }[overlap]
    expect(await outcomes()).toEqual(first)
    await schedule.remove()
    await s.advance('8h')
    expect(new Set(await outcomes()).has('pending')).toBe(false)
  })

  it('catches up on the latest occurrences after an outage, and counts the others', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment({ start: new Date('2026-01-01T00:00:00Z') })
    const options = { workflows, environment, store: file.store, sweep: '1m' } as const
    const first = await stage(options)
    const names = { one: {}, three: { limit: 3 }, fresh: { limit: 9, within: '150m' } } as const
    for (const [name, catchUp] of Object.entries(names)) {
      await first.engine.triarch.schedules
        .get(name)
        .register({ workflow: report, input: 1, every: '1h', overlap: 'allow', catchUp })
    }
    await first.settle()
    await first.kill()
    await environment.advance(10 * HOUR + 1_000)
    await using s = await stage(options)
    await s.advance('2m')
    expect((await started(s.engine, 'one')).map((it) => it.slice(11))).toEqual(['10:00'])
    expect((await started(s.engine, 'three')).map((it) => it.slice(11))).toEqual(['08:00', '09:00', '10:00'])
    expect((await started(s.engine, 'fresh')).map((it) => it.slice(11))).toEqual(['08:00', '09:00', '10:00'])
    const info = async (name: string) => s.engine.triarch.schedules.get(name).info()
    expect([(await info('one')).missed, (await info('three')).missed]).toEqual([9, 7])
  })

  it('passes while it is paused, and goes on with the next occurrence', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    const schedule = s.engine.triarch.schedules.get('x')
    await schedule.register({ workflow: report, input: 1, every: '1h' })
    await s.advance('61m')
    await schedule.pause({ reason: 'the bank is closed' })
    expect(await schedule.info()).toMatchObject({ paused: { reason: 'the bank is closed' }, next: undefined })
    await s.advance('5h')
    await schedule.resume()
    expect((await schedule.next(1))[0]).toEqual(new Date('2026-01-01T07:00:00Z'))
    await s.advance('1h')
    expect((await started(s.engine, 'x')).map((it) => it.slice(11))).toEqual(['01:00', '07:00'])
  })

  it('is filled in for a time that has passed, once', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    const schedule = s.engine.triarch.schedules.get('x')
    await schedule.register({ workflow: long, input: 1, every: '1d', overlap: 'queue' })
    await s.advance('61m')
    const range = { from: new Date('2025-12-27T12:00:00Z'), to: new Date('2025-12-30T12:00:00Z') }
    const ids = await schedule.backfill(range)
    expect(ids).toEqual(['x@2025-12-28T00:00:00.000Z', 'x@2025-12-29T00:00:00.000Z', 'x@2025-12-30T00:00:00.000Z'])
    await s.settle()
    const open = async () => (await s.engine.triarch.tasks.list({ status: 'running' })).tasks.length
    expect(await open()).toBe(1)
    await s.advance('5h')
    expect(await schedule.backfill(range)).toEqual(ids)
    await s.settle()
    expect((await s.engine.triarch.tasks.list({ outcome: 'success' })).tasks).toHaveLength(3)
    const wrong = [
      { ...range, to: new Date('2026-02-01') },
      { from: range.to, to: range.from },
    ]
    for (const it of wrong) expect(await codeOf(schedule.backfill(it))).toBe('INVALID_OPTION')
  })

  it('runs at once when told, beside its occurrences, also while it is paused', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    const { triarch } = s.engine
    const schedule = triarch.schedules.get('x')
    await schedule.register({ workflow: long, input: 1, every: '1d' })
    await schedule.pause()
    const before = await schedule.info()
    const first = await schedule.run({ reason: 'the files came late' })
    expect(first).toBe('x@2026-01-01T00:00:00.000Z')
    // One more waits for it; the same again is the same; one that does not wait is told so.
    expect(await schedule.run({ id: 'second' })).toBe('second')
    expect(await schedule.run({ id: 'second' })).toBe('second')
    expect(await codeOf(schedule.run({ id: 'third', overlap: 'skip' }))).toBe('LOCK_HELD')
    await s.settle()
    const shown = async (id: string) => (await triarch.tasks.get(id).status()).status
    expect([await shown(first), await shown('second')]).toEqual(['running', 'pending'])
    await s.advance('5h')
    expect((await triarch.tasks.list({ outcome: 'success' })).tasks.map(({ id }) => id).sort()).toEqual([
      'second',
      first,
    ])
    expect(await schedule.info()).toEqual(before)
    const { entries } = await triarch.audit.list({ action: 'schedule.run' })
    expect(entries.map(({ reason }) => reason)).toContain('the files came late')
    expect(await codeOf(schedule.run({ id: '' }))).toBe('INVALID_NAME')
    for (const wrong of [{ overlap: 'never' as 'skip' }, { reason: 'x'.repeat(1_001) }])
      expect(await codeOf(schedule.run(wrong))).toBe('INVALID_OPTION')
  })

  it('puts each occurrence off by its own share of the jitter, the same for everyone', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    const schedule = s.engine.triarch.schedules.get('x')
    await schedule.register({ workflow: report, input: 1, every: '1h', jitter: '30m' })
    const due = (await schedule.info()).next as Date
    const late = due.getTime() - new Date('2026-01-01T01:00:00Z').getTime()
    expect(late).toBeGreaterThan(0)
    expect(late).toBeLessThan(HOUR / 2)
    await s.advance(HOUR + late - 120_000)
    expect(await started(s.engine, 'x')).toEqual([])
    await s.advance(180_000)
    expect(await started(s.engine, 'x')).toEqual(['2026-01-01T01:00'])
  })

  it('gives its tasks the workflow’s own locks, priority and time', async () => {
    const careful = workflow('careful', {
      ...{ exclusive: {}, priority: 7, taskWithin: '2h' },
      run: (_: unknown, task: TaskContext) => task.sleep('90m'),
    })
    const environment = new VirtualEnvironment({ start: new Date('2026-01-01T00:00:00Z') })
    await using s = await stage({ workflows: [careful], environment, sweep: '1m' })
    await s.engine.triarch.schedules.get('x').register({ workflow: careful, input: 1, every: '1d' })
    await s.engine.triarch.schedules
      .get('y')
      .register({ workflow: careful, input: 1, every: '1d', tags: { shop: 'north' } })
    await s.advance(DAY + 60_000)
    const { tasks } = await s.engine.triarch.tasks.list({ order: 'oldest' })
    expect(tasks.map(({ priority, status }) => [priority, status])).toEqual([
      [7, 'running'],
      [7, 'pending'],
    ])
    expect(tasks[1]?.tags).toEqual({ schedule: 'y', shop: 'north' })
    await s.advance('3h')
    expect((await s.engine.triarch.tasks.list({ order: 'oldest' })).tasks.map(({ outcome }) => outcome)).toEqual([
      'success',
      'error',
    ])
  })

  it('plans a plan when it is due', async () => {
    const planned = workflow('planned', { plan: (_: unknown) => 1 })
    const environment = new VirtualEnvironment({ start: new Date('2026-01-01T00:00:00Z') })
    await using s = await stage({ workflows: [planned], environment, sweep: '1m' })
    await s.engine.triarch.schedules.get('x').register({ workflow: planned, input: 1, every: '1d' })
    await s.advance(DAY + 60_000)
    expect((await s.engine.triarch.tasks.list({ outcome: 'success' })).tasks).toHaveLength(1)
  })

  it('is refused what makes no sense', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    const given: [object, string][] = [
      [{ cron: '61 * * * *' }, 'INVALID_OPTION'],
      [{ cron: '0 0 30 2 *' }, 'INVALID_OPTION'],
      [{ cron: '0 0 31 4,6,9,11 *' }, 'INVALID_OPTION'],
      [{ cron: '* * * * *', timeZone: 'Mars/Olympus' }, 'INVALID_OPTION'],
      [{}, 'INVALID_OPTION'],
      [{ cron: '* * * * *', every: '1h' }, 'INVALID_OPTION'],
      [{ every: '0s' }, 'INVALID_DURATION'],
      [{ every: '1h', timeZone: 'UTC' }, 'INVALID_OPTION'],
      [{ every: '1h', overlap: 'maybe' }, 'INVALID_OPTION'],
      [{ every: '1h', catchUp: { limit: 0 } }, 'INVALID_OPTION'],
      [{ every: '1h', catchup: {} }, 'UNKNOWN_OPTION'],
    ]
    for (const [options, code] of given) {
      const asked = s.engine.triarch.schedules.get('x').register({ workflow: report, input: 1, ...options })
      expect([options, await codeOf(asked)]).toEqual([options, code])
    }
    expect(() => s.engine.triarch.schedules.get('no good')).toThrow(expect.objectContaining({ code: 'INVALID_NAME' }))
    expect(await s.engine.triarch.schedules.list()).toEqual({ schedules: [] })
  })

  it('is listed with the others, by name, a page at a time', async () => {
    await using s = await stage({ workflows: [report] })
    const { triarch } = s.engine
    for (const name of ['c', 'a', 'd', 'b'])
      await triarch.schedules.get(name).register({ workflow: report, input: 'x', every: '1h' })
    const names = async (options?: Parameters<typeof triarch.schedules.list>[0]) =>
      (await triarch.schedules.list(options)).schedules.map(({ name }) => name)
    expect(await names()).toEqual(['a', 'b', 'c', 'd'])
    expect(await names({ limit: 3 })).toEqual(['a', 'b', 'c'])
    expect(await names({ limit: 3, cursor: 'c' })).toEqual(['d'])
    expect((await triarch.schedules.list({ limit: 3 })).next).toBe('c')
    for (const last of [{ limit: 4 }, { limit: 3, cursor: 'c' }])
      expect(await triarch.schedules.list(last)).not.toHaveProperty('next')
    await expect(triarch.schedules.list({ limit: 1_001 })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
    await expect(triarch.schedules.list({ cursor: 'a\0' })).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('a pattern that no instant ever matches', () => {
  it('is refused, and named; one that matches every fourth year is not', async () => {
    await using s = await at('2026-01-01T00:00:00Z')
    const leap = s.engine.triarch.schedules.get('leap')
    await leap.register(daily({ cron: '0 0 29 2 *', timeZone: 'UTC' }))
    expect(await leap.next(2)).toEqual([new Date('2028-02-29T00:00:00Z'), new Date('2032-02-29T00:00:00Z')])
    const never = s.engine.triarch.schedules.get('leap').register(daily({ cron: '0 0 30 2 *' }))
    await expect(never).rejects.toThrow('schedule "leap": no instant ever matches `cron` "0 0 30 2 *"')
    expect((await leap.info()).next).toEqual(new Date('2028-02-29T00:00:00Z'))
  })
})

describe('the occurrences of a schedule', () => {
  it('are each one task, however leaders come and go', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment({ start: new Date('2026-01-01T00:00:00Z') })
    const node = (...roles: Role[]) =>
      stage({ workflows, environment, store: file.store, roles, lease: '10s', sweep: '1s', poll: '1s' })
    await using client = await node('scheduler')
    await client.engine.triarch.schedules.get('x').register({
      workflow: report,
      input: 1,
      every: '20s',
      overlap: 'allow',
      catchUp: { limit: 100 },
    })
    let [first, second] = [await node('supervisor'), await node('supervisor')]
    for (let round = 0; round < 6; round++) {
      await client.advance('25s')
      // The leader, as likely as not, goes without a word.
      await first.kill()
      ;[first, second] = [second, await node('supervisor')]
    }
    await client.advance('30s')
    await first.kill()
    await second.kill()
    await client.advance('5s')
    const ran = await started(client.engine, 'x')
    const { tasks } = await client.engine.triarch.tasks.list({ tags: { schedule: 'x' }, limit: 1_000 })
    expect(ran.length).toBe(9)
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(9)
    expect(tasks.every(({ outcome }) => outcome === 'success')).toBe(true)
  })

  it('are written once, when two leaders fire at once with what they read before', async () => {
    await using s = await at('2026-01-01T00:00:00Z', { sweep: '1d' })
    await s.engine.triarch.schedules.get('x').register({ workflow: report, input: 1, every: '1h' })
    const [row] = await s.store.schedules({ name: 'x', limit: 1 })
    if (!row) throw new Error('no schedule')
    const { revision: expected, ...rest } = row
    const write = { ...rest, expected, tasks: [], fence: null }
    const answers = await Promise.all([s.store.writeSchedule(write), s.store.writeSchedule(write)])
    expect(answers).toEqual([[], null])
    const stale = { ...write, expected: expected + 1, fence: { name: 'supervisor', token: 99 } }
    expect(await s.store.writeSchedule(stale)).toBeNull()
  })
})
