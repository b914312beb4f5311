import { describe, expect, it } from 'vitest'
import type { ScheduleWrite } from '../../src/store/port.ts'
import { advancing } from './clock.ts'
import type { Bench } from './conformance.ts'
import { idsOf } from './listing.ts'
import { claimAll, newTask } from './samples.ts'

const write = (name: string, change: Partial<ScheduleWrite> = {}): ScheduleWrite => ({
  ...{ name, expected: null, definition: '{}', state: '{"n":0}', nextAt: null, tasks: [], fence: null },
  ...change,
})

export function scheduleSuite(bench: Bench): void {
  describe('a schedule', () => {
    it('is written with its tasks under the revision that was read, or not at all', async () => {
      const { store } = bench
      expect(await store.writeSchedule(write('s', { nextAt: 10 }))).toEqual([])
      expect(await store.writeSchedule(write('s'))).toBeNull()
      const tasks = [newTask('t1'), newTask('t2', { tags: { a: 'b' } })]
      const next = write('s', { expected: 1, state: '{"n":1}', nextAt: 20, tasks })
      expect(await store.writeSchedule(next)).toMatchObject([{ created: true }, { created: true }])
      expect(await store.writeSchedule({ ...next, tasks: [newTask('t3')] })).toBeNull()
      expect(await store.task('t3')).toBeNull()
      const again = { ...next, expected: 2, tasks: [newTask('t1'), newTask('t4')] }
      expect(await store.writeSchedule(again)).toMatchObject([{ created: false }, { created: true }])
      const row = { name: 's', revision: 3, definition: '{}', state: '{"n":1}', nextAt: 20 }
      expect(await store.schedules({ name: 's', limit: 1 })).toEqual([row])
      expect(await claimAll(store)).toHaveLength(3)
    })

    it('is written under the token of the leader only', async () => {
      const { store, clock } = bench
      const token = await store.lead({ name: 'sup', node: 'a', ttl: 1_000 })
      const fence = { name: 'sup', token: token ?? 0 }
      expect(await store.writeSchedule(write('s', { fence: { ...fence, token: 99 } }))).toBeNull()
      expect(await store.writeSchedule(write('s', { fence }))).toEqual([])
      clock.advance(1_001)
      expect(await store.writeSchedule(write('s', { expected: 1, fence }))).toBeNull()
    })

    it('tells which of its tasks a lock refused', async () => {
      const { store } = bench
      const reject = { gates: { locks: [{ step: 0, name: 'x', ifHeld: 'reject' as const }], after: [] } }
      const tasks = [newTask('t1', reject), newTask('t2', reject)]
      const outcomes = await store.writeSchedule(write('s', { tasks }))
      expect(outcomes).toMatchObject([{ created: true }, { created: false, heldBy: 't1' }])
      expect(await store.task('t2')).toBeNull()
    })

    it('is found when it is due, by name, and in the order of names', async () => {
      const { store } = bench
      await store.writeSchedule(write('c', { nextAt: 5 }))
      await store.writeSchedule(write('a', { nextAt: 10 }))
      await store.writeSchedule(write('b'))
      const names = async (query: Parameters<typeof store.schedules>[0]) =>
        (await store.schedules(query)).map(({ name }) => name)
      expect(await names({ due: 4, limit: 9 })).toEqual([])
      expect(await names({ due: 10, limit: 9 })).toEqual(['c', 'a'])
      expect(await names({ due: 10, limit: 1 })).toEqual(['c'])
      expect(await names({ after: '', limit: 9 })).toEqual(['a', 'b', 'c'])
      expect(await names({ after: 'a', limit: 1 })).toEqual(['b'])
      expect(await names({ name: 'b', limit: 1 })).toEqual(['b'])
      expect([await store.dropSchedule('b'), await store.dropSchedule('b')]).toEqual([true, false])
      expect(await names({ after: '', limit: 9 })).toEqual(['a', 'c'])
    })
  })
}

export function sharedScheduleSuite(bench: Bench): void {
  it('a schedule is written once by many that read the same revision', async () => {
    const { store } = bench
    const other = await bench.another()
    await store.writeSchedule(write('s'))
    const writes = Array.from({ length: 12 }, (_, index) =>
      (index % 2 ? store : other).writeSchedule(write('s', { expected: 1, tasks: [newTask(`t${index}`)] })),
    )
    const outcomes = await advancing(bench.clock, Promise.all(writes))
    expect(outcomes.filter((it) => it !== null)).toHaveLength(1)
    expect(await idsOf(store)).toHaveLength(1)
  })
}
