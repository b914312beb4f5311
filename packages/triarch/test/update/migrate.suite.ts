import { describe, expect, it } from 'vitest'
import { migrate } from '../../src/client/migrate.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { handClock } from '../store/clock.ts'
import { newTask } from '../store/samples.ts'

export interface Migratable {
  /** On an empty database, made by the first call. */
  store: (options?: { migrate?: 'auto' | 'wait' | 'refuse' }) => StoreFactory
  /** Makes it one that was written by code which needs more than ours knows of, or knows more than we do. */
  newer: (by: 'needed' | 'added') => Promise<void>
  /** Makes it one that released code has made, and left empty. */
  before: () => Promise<void>
  /** What released code asks of a store that it has open; rejects with what it is told. */
  asBefore: {
    beat: (node: string) => Promise<unknown>
    claim: (node: string, key: number) => Promise<unknown>
  }
}

/** The oldest code that reads format 2 has this migration. */
const contractions: Readonly<Record<string, string>> = { PostgreSQL: '0013' }

/** What `migrate()` and the option of the same name promise on each store. */
export function migrateSuite(name: string, fresh: () => Promise<Migratable>): void {
  describe(`migrations of ${name}`, () => {
    const opened = async (factory: StoreFactory) => {
      const store = factory(handClock())
      await store.open()
      return store
    }

    it('say what they would do, do it once, and then have nothing to do', async () => {
      const { store } = await fresh()
      const { pending, done } = await migrate(store(), { dryRun: true })
      expect(pending.slice(0, 2)).toEqual(['0001', '0002'])
      expect(done).toEqual([])
      expect(await migrate(store())).toEqual({ pending, done: pending })
      expect(await migrate(store())).toEqual({ pending: [], done: [] })
    })

    it('are done once when several do them at the same time', async () => {
      const { store } = await fresh()
      const reports = await Promise.all([1, 2, 3].map(() => migrate(store())))
      const all = reports.flatMap(({ done }) => done)
      expect(all.toSorted()).toEqual([...new Set(all)].toSorted())
      expect((await migrate(store())).pending).toEqual([])
    })

    it('are left to others by a store that waits, and missed by one that refuses', async () => {
      const { store } = await fresh()
      await expect(opened(store({ migrate: 'refuse' }))).rejects.toMatchObject({ code: 'STORE_SCHEMA_OLD' })
      const clock = handClock()
      const waiting = store({ migrate: 'wait' })(clock)
      const done = waiting.open()
      await migrate(store())
      while ((await Promise.race([done.then(() => 'open'), new Promise(setImmediate)])) !== 'open') clock.advance(100)
      await waiting.submit([newTask('t')])
      expect(await waiting.task('t')).toMatchObject({ id: 't' })
      await waiting.close()
      await (await opened(store({ migrate: 'refuse' }))).close()
    })

    it('of newer code disturb nobody, unless it says that it needs them', async () => {
      const { store, newer } = await fresh()
      await migrate(store())
      await newer('added')
      await (await opened(store())).close()
      await newer('needed')
      await expect(opened(store())).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER', details: { found: 99 } })
      await expect(migrate(store())).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER' })
    })

    it('leave records of format 1 where released code may come back, until an operator says that it will not', async () => {
      const { store, before, asBefore } = await fresh()
      await before()
      const step = contractions[name] ?? '0010'
      const first = await opened(store())
      expect(first.format?.()).toBe(1)
      await asBefore.beat('old')
      const raising = { format: 2 } as const
      expect(await migrate(store(), { ...raising, dryRun: true })).toEqual({ pending: [step], done: [] })
      const refused = { code: 'STORE_FORMAT_IN_USE', details: { nodes: ['old'] } }
      await expect(migrate(store(), raising)).rejects.toMatchObject(refused)
      await first.bury(['old'])
      await first.beat({ id: 'new', roles: [], lease: 1_000, runs: { workflows: [], actions: [], reads: 2 } })
      expect(await migrate(store(), raising)).toEqual({ pending: [step], done: [step] })
      expect(await migrate(store(), raising)).toEqual({ pending: [], done: [] })
      await first.close()
      const second = await opened(store())
      expect(second.format?.()).toBe(2)
      await second.close()
    })

    it('keep a node of released code that slept meanwhile from all that it cannot read', async () => {
      const { store, before, asBefore } = await fresh()
      await before()
      const first = await opened(store())
      await asBefore.beat('slept')
      await first.bury(['slept'])
      const task = newTask('t')
      const [made] = await first.submit([task])
      await migrate(store(), { format: 2 })
      const told = /takes code of schema version \d+ or later: update this process/
      await expect(asBefore.claim('slept', made?.key ?? 0)).rejects.toThrow(told)
      await expect(asBefore.beat('another')).rejects.toThrow(told)
      await first.beat({ id: 'new', roles: [], lease: 1_000, runs: { workflows: [], actions: [], reads: 2 } })
      const { workflow, version } = task
      expect(await first.claim({ node: 'new', runnable: [{ workflow, version }], limit: 1 })).toMatchObject([
        { id: 't' },
      ])
      await first.close()
    })

    it('make a new store of format 2 at once', async () => {
      const { store } = await fresh()
      const made = await opened(store())
      expect(made.format?.()).toBe(2)
      await made.close()
      expect((await migrate(store(), { format: 2 })).pending).toEqual([])
    })

    it('take no option they do not know', async () => {
      const { store } = await fresh()
      await expect(migrate(store(), { dry: true } as object)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
      await expect(migrate(store(), { format: 1 } as object)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      expect(() => store({ migrate: 'never' as 'auto' })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    })
  })
}
