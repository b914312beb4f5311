import { describe, expect, it } from 'vitest'
import { TriarchError, workflow } from '../../src/index.ts'
import type { ScheduleWrite, StateStore } from '../../src/store/port.ts'
import type { PruneRequest } from '../../src/store/retention.ts'
import { memory } from '../../src/testing/index.ts'
import { stage } from '../engine/harness.ts'

const report = workflow('report', { retention: '1s', run: async () => null })
const other = workflow('other', { retention: '1s', run: async () => null })

/** A memory store of which some calls are others. */
function changed(change: (store: StateStore) => Partial<StateStore>) {
  return (environment: Parameters<ReturnType<typeof memory>>[0]) => {
    const store = memory()(environment)
    const changes = change(store)
    return new Proxy(store, {
      get(target, key) {
        const own = (changes[key as keyof StateStore] ?? Reflect.get(target, key, target)) as unknown
        return typeof own === 'function' ? own.bind(target) : own
      },
    })
  }
}

const refused = () => Promise.reject(new TriarchError('STORE_FAILED', 'the store does not take this'))
const options = { workflows: [report, other], sweep: '1s', poll: '1s' } as const

describe('a row of the supervisor hurts no other', () => {
  it('a schedule whose task is refused is put off ever longer, says so once, and is well again by itself', async () => {
    const ill = { ness: true, tries: 0 }
    const store = changed((store) => ({
      writeSchedule: (write: ScheduleWrite) => {
        const bad = ill.ness && write.name === 'bad' && write.tasks.length > 0
        if (bad) ill.tries++
        return bad ? refused() : store.writeSchedule(write)
      },
    }))
    const s = await stage({ ...options, store })
    const { triarch } = s.engine
    const [bad, good] = [triarch.schedules.get('bad'), triarch.schedules.get('good')]
    for (const schedule of [bad, good]) await schedule.register({ workflow: report, input: null, every: '1m' })
    const since = new Date(s.engine.now().getTime() + 60_000)
    for (let minute = 0; minute < 60; minute++) await s.advance('1m')
    expect(await good.info()).toMatchObject({ started: 60, failing: undefined })
    expect(await bad.info()).toMatchObject({ started: 0, failing: { since, error: { code: 'STORE_FAILED' } } })
    expect(ill.tries).toBeLessThan(25)
    expect(s.alerts).toMatchObject([{ code: 'SCHEDULE_FAILING', schedule: 'bad' }])
    ill.ness = false
    for (let minute = 0; minute < 6; minute++) await s.advance('1m')
    expect(await bad.info()).toMatchObject({ failing: undefined })
    expect((await bad.info()).started).toBeGreaterThan(0)
    s.errors.length = 0
    await s.kill()
  })

  it('a schedule that cannot even be read costs the others nothing', async () => {
    const s = await stage(options)
    await s.store.writeSchedule({
      ...{
        name: 'broken',
        expected: null,
        definition: 'no JSON',
        state: 'nor this',
        nextAt: 1,
        tasks: [],
        fence: null,
      },
    })
    const good = s.engine.triarch.schedules.get('good')
    await good.register({ workflow: report, input: null, every: '1m' })
    await s.advance('5m')
    expect((await good.info()).started).toBeGreaterThan(0)
    expect(s.alerts).toMatchObject([{ code: 'SCHEDULE_FAILING', schedule: 'broken' }])
    s.errors.length = 0
    await s.kill()
  })

  it('what cannot be dropped keeps no other from being dropped, nor schedules from being started', async () => {
    const ill = { ness: false }
    const store = changed((store) => ({
      prune: (request: PruneRequest) =>
        ill.ness && request.rules.some(({ workflow, age }) => workflow === 'other' && age !== null)
          ? refused()
          : store.prune(request),
    }))
    const s = await stage({ ...options, store })
    ill.ness = true
    const tasks = [await s.submit(other, null), await s.submit(report, null), await s.submit(report, null)]
    const schedule = s.engine.triarch.schedules.get('good')
    await schedule.register({ workflow: report, input: null, every: '1m' })
    await s.advance('10m')
    const left = await Promise.all(tasks.map(({ id }) => s.store.task(id)))
    expect(left.map((row) => row !== null)).toEqual([true, false, false])
    expect((await schedule.info()).started).toBeGreaterThan(0)
    expect(s.alerts).toContainEqual(expect.objectContaining({ code: 'RETENTION_FAILING', workflow: 'other' }))
    s.errors.length = 0
    await s.kill()
  })

  it('a task that cannot be dropped keeps none of its rule; it is told once, and tried again after a while', async () => {
    const ill = { ness: true, tries: 0 }
    const store = changed((store) => ({
      async prune(request: PruneRequest) {
        const { id = '', key = 0, workflow = '' } = (await store.task('bad')) ?? {}
        if (!ill.ness || key === 0 || request.except?.includes(key)) return store.prune(request)
        ill.tries++
        const report = await store.prune({ ...request, except: [...(request.except ?? []), key] })
        return report && { ...report, failed: [{ key, id, workflow, message: 'the store does not let it go' }] }
      },
    }))
    const s = await stage({ ...options, sweep: '10s', poll: '10s', store })
    await s.submit(report, null, { id: 'bad' })
    await s.advance('1m')
    const later = await s.submit(report, null)
    await s.advance('1m')
    expect(await s.store.task(later.id)).toBeNull()
    await s.advance('30m')
    expect(ill.tries).toBe(1)
    expect(s.alerts).toMatchObject([{ code: 'RETENTION_FAILING', task: 'bad', workflow: 'report' }])
    for (let hour = 0; hour < 3; hour++) await s.advance('1h')
    expect(ill.tries).toBeGreaterThan(2)
    expect(s.alerts).toHaveLength(1)
    ill.ness = false
    await s.advance('2h')
    expect(await s.store.task('bad')).toBeNull()
    s.errors.length = 0
    await s.kill()
  })

  it('a sweep that fails keeps neither schedules nor retention from their work', async () => {
    const store = changed(() => ({ sweep: refused }))
    const s = await stage({ ...options, store })
    const task = await s.submit(report, null)
    const schedule = s.engine.triarch.schedules.get('good')
    await schedule.register({ workflow: report, input: null, every: '1m' })
    await s.advance('10m')
    expect(await s.store.task(task.id)).toBeNull()
    expect((await schedule.info()).started).toBeGreaterThan(0)
    s.errors.length = 0
    await s.kill()
  })
})
