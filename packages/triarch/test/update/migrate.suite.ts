import { describe, expect, it } from 'vitest'
import { migrate } from '../../src/client/migrate.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import type { Migration } from '../../src/store/migration.ts'
import { handClock } from '../store/clock.ts'
import { newTask } from '../store/samples.ts'

export interface Migratable {
  /** On an empty database, made by the first call. `more`: as code opens it that knows these migrations after those that there are. */
  store: (options?: { migrate?: 'auto' | 'wait' | 'refuse' }, more?: readonly Migration[]) => StoreFactory
  /** Makes it one that was written by code which needs more than ours knows of, or knows more than we do. */
  newer: (by: 'needed' | 'added') => Promise<void>
  /** The rows that say which migration the store needs code to know: one. */
  oldest: () => Promise<number[]>
  /** How the statement of a migration names a table of the store. */
  table: (name: string) => string
}

/** What `migrate()` and the option of the same name promise on each store. */
export function migrateSuite(name: string, fresh: () => Promise<Migratable>): void {
  describe(`migrations of ${name}`, () => {
    // One for all of them: what stores draw at random must differ.
    const clock = handClock()
    const opened = async (factory: StoreFactory) => {
      const store = factory(clock)
      await store.open()
      return store
    }

    it('say what they would do, do it once, and then have nothing to do', async () => {
      const { store } = await fresh()
      const { pending, done } = await migrate(store(), { dryRun: true })
      expect(pending[0]).toBe('0001')
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

    it('of a later version are added to a store that is in use, which code of before goes on with, and opens again', async () => {
      const { store, table } = await fresh()
      const more = [
        { name: '9001', sql: `ALTER TABLE ${table('tasks')} ADD COLUMN later INTEGER` },
        { name: '9002', sql: `CREATE TABLE ${table('later')} (task INTEGER NOT NULL)` },
      ]
      const names = more.map(({ name }) => name)
      const before = await opened(store())
      await before.submit([newTask('a')])
      expect(await migrate(store({}, more), { dryRun: true })).toEqual({ pending: names, done: [] })
      const refusing = opened(store({ migrate: 'refuse' }, more))
      await expect(refusing).rejects.toMatchObject({ code: 'STORE_SCHEMA_OLD', details: { pending: names } })
      const later = await opened(store({}, more))
      expect(await migrate(store({}, more))).toEqual({ pending: [], done: [] })

      await before.submit([newTask('b')])
      await later.submit([newTask('c')])
      const { workflow, version } = newTask('a')
      const claiming = { runnable: [{ workflow, version }], limit: 1 }
      for (const id of ['old', 'new']) await before.heartbeat({ id, roles: [], lease: 1_000 })
      expect(await before.claim({ ...claiming, node: 'old' })).toMatchObject([{ id: 'a' }])
      expect(await later.claim({ ...claiming, node: 'new' })).toMatchObject([{ id: 'b' }])
      await before.close()
      await later.close()
      const back = await opened(store({ migrate: 'refuse' }))
      expect(await back.claim({ ...claiming, node: 'old' })).toMatchObject([{ id: 'c' }])
      await back.close()
    })

    it('of a later version are done once when several do them at the same time', async () => {
      const { store, table } = await fresh()
      await migrate(store())
      const more = [{ name: '9001', sql: `CREATE TABLE ${table('later')} (task INTEGER NOT NULL)` }]
      const reports = await Promise.all([1, 2, 3].map(() => migrate(store({}, more))))
      expect(reports.flatMap(({ done }) => done)).toEqual(['9001'])
    })

    it('that fail leave nothing of what they did, and can be tried again', async () => {
      const { store, table } = await fresh()
      await migrate(store())
      const [right, wrong] = [`CREATE TABLE ${table('later')} (task INTEGER NOT NULL)`, 'SELECT 1 FROM nowhere']
      const failing = [{ name: '9001', sql: `${right}; ${wrong}` }]
      await expect(migrate(store({}, failing))).rejects.toThrow('nowhere')
      expect(await migrate(store({}, [{ name: '9001', sql: right }]))).toEqual({ pending: ['9001'], done: ['9001'] })
    })

    it('that contract take the store from code that does not know them, and from nobody else, nor need others to be known', async () => {
      const { store, table, oldest } = await fresh()
      const contracting: Migration = { name: '9002', sql: `DROP TABLE ${table('probes')}`, contracts: true }
      const expanding = { name: '9003', sql: `ALTER TABLE ${table('tasks')} ADD COLUMN later TEXT` }
      await migrate(store())
      expect(await oldest()).toEqual([0])
      const both = store({}, [contracting, expanding])
      expect((await migrate(both)).done).toEqual(['9002', '9003'])
      expect(await oldest()).toEqual([9002])
      const refused = { code: 'STORE_SCHEMA_NEWER', details: { found: 9002, known: 1 } }
      await expect(migrate(store())).rejects.toMatchObject(refused)
      for (const known of [store({}, [contracting]), both])
        expect(await migrate(known)).toEqual({ pending: [], done: [] })
    })

    it('that contract keep code that does not know them from a new store, too', async () => {
      const { store, table } = await fresh()
      const contracting: Migration = { name: '9002', sql: `DROP TABLE ${table('probes')}`, contracts: true }
      const expanding = { name: '9003', sql: `ALTER TABLE ${table('tasks')} ADD COLUMN later TEXT` }
      await migrate(store({}, [contracting, expanding]))
      await expect(migrate(store())).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER', details: { found: 9002 } })
    })

    it('that only add leave a new store to all', async () => {
      const { store, table, oldest } = await fresh()
      await migrate(store({}, [{ name: '9003', sql: `ALTER TABLE ${table('tasks')} ADD COLUMN later TEXT` }]))
      expect(await migrate(store())).toEqual({ pending: [], done: [] })
      expect(await oldest()).toEqual([0])
    })

    it('take no option they do not know', async () => {
      const { store } = await fresh()
      await expect(migrate(store(), { dry: true } as object)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION' })
      expect(() => store({ migrate: 'never' as 'auto' })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    })
  })
}
