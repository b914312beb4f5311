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
}

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

    it('take no option they do not know', async () => {
      const { store } = await fresh()
      await expect(migrate(store(), { dry: true } as object)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
      expect(() => store({ migrate: 'never' as 'auto' })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    })
  })
}
