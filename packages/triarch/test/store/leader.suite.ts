import { describe, expect, it } from 'vitest'
import type { Leading, StateStore } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'

const lease = 1_000
const bounds = { within: 5_000, signal: new AbortController().signal, isolation: 'read committed' } as const

export function leaderSuite(bench: Bench): void {
  const alive = (...ids: string[]) => Promise.all(ids.map((id) => bench.store.heartbeat({ id, roles: [], lease })))
  const led = async (name = 'x') => (await bench.store.leaders({ names: [name] }))[0]
  const elect = (node: string, expected: number, name = 'x') => bench.store.elect({ name, node, expected })

  describe('a leadership', () => {
    it('is had by one node, until that resigns, leaves or dies; each time with a higher token', async () => {
      const { store } = bench
      await alive('a', 'b')
      expect(await led()).toBeUndefined()
      expect(await elect('a', 0)).toBe(true)
      expect(await led()).toEqual({ name: 'x', node: 'a', token: 1 })
      for (const node of ['a', 'b']) expect(await elect(node, 1)).toBe(false)
      expect(await store.resign({ name: 'x', node: 'b', token: 1 })).toBe(false)
      expect(await store.resign({ name: 'x', node: 'a', token: 2 })).toBe(false)
      expect(await store.resign({ name: 'x', node: 'a', token: 1 })).toBe(true)
      expect(await store.resign({ name: 'x', node: 'a', token: 1 })).toBe(false)
      expect(await led()).toEqual({ name: 'x', node: null, token: 1 })
      expect(await elect('b', 1)).toBe(true)
      await store.leave('b')
      expect(await led()).toEqual({ name: 'x', node: null, token: 2 })
      expect(await elect('a', 2)).toBe(true)
      expect(await store.declareDead(['a'])).toBe(1)
      expect(await led()).toEqual({ name: 'x', node: null, token: 3 })
      await alive('c')
      expect(await elect('c', 3)).toBe(true)
      expect(await led()).toEqual({ name: 'x', node: 'c', token: 4 })
    })

    it('is given by the token that was read, and to nodes that live', async () => {
      await alive('a', 'b')
      expect(await elect('ghost', 0)).toBe(false)
      expect(await elect('a', 0)).toBe(true)
      await bench.store.declareDead(['a'])
      for (const expected of [0, 2]) expect(await elect('b', expected)).toBe(false)
      for (const node of ['a', 'ghost']) expect(await elect(node, 1)).toBe(false)
      expect(await elect('b', 1)).toBe(true)
    })

    it('is ended by no clock: neither how late it is nor a clock that is put back', async () => {
      const { store, clock } = bench
      await alive('a', 'b')
      await elect('a', 0)
      clock.advance(1_000_000)
      expect(await led()).toMatchObject({ node: 'a' })
      expect(await elect('b', 1)).toBe(false)
      await store.resign({ name: 'x', node: 'a', token: 1 })
      clock.advance(-1_000_000)
      expect(await led()).toMatchObject({ node: null })
    })

    it('is one of many, listed by name apart from the leases of the engine', async () => {
      const { store } = bench
      await alive('a')
      await store.lead({ name: 'supervisor', node: 'a', ttl: lease })
      for (const name of ['é', 'b', 'B', 'supervisor', '%_*?']) expect(await elect('a', 0, name)).toBe(true)
      const names = async (after: string, limit: number) =>
        (await store.leaders({ after, limit })).map(({ name }) => name)
      expect(await names('', 10)).toEqual(['%_*?', 'B', 'b', 'supervisor', 'é'])
      expect(await names('B', 2)).toEqual(['b', 'supervisor'])
      expect(await store.leaders({ names: [] })).toEqual([])
    })

    it('carries a transaction, that is there as a whole; none begins once it is over', async () => {
      const { store, subject } = bench
      await alive('a')
      await elect('a', 0)
      const a: Leading = { name: 'x', node: 'a', token: 1 }
      const run = async (leading: Leading, body: (tx: unknown) => Promise<string>, on: StateStore = store) =>
        on.transact(leading, bounds, body)
      const write = async (tx: unknown) => String(await subject.sql(tx, 'INSERT INTO led_rows VALUES (1)'))
      await run(a, async (tx) => {
        await subject.sql(tx, 'DROP TABLE IF EXISTS led_rows')
        await subject.sql(tx, 'CREATE TABLE led_rows (n integer)')
        return ''
      })
      expect(await run(a, write)).toMatchObject({ ok: true })
      const undone = run(a, async (tx) => {
        await write(tx)
        throw new Error('undo it')
      })
      await expect(undone).rejects.toThrow('undo it')
      for (const wrong of [{ token: 2 }, { node: 'b' }, { name: 'y' }])
        expect(await run({ ...a, ...wrong }, write)).toEqual({ ok: false, reason: 'fenced' })
      // Its row is looked at again in each: nothing is remembered.
      expect(await run(a, write)).toMatchObject({ ok: true })
      await store.resign(a)
      expect(await run(a, write)).toEqual({ ok: false, reason: 'fenced' })
      await elect('a', 1)
      let rows = 0
      await run({ ...a, token: 2 }, async (tx) => {
        rows = Number(await subject.sql(tx, 'SELECT count(*) FROM led_rows'))
        await subject.sql(tx, 'DROP TABLE led_rows')
        return ''
      })
      expect(rows).toBe(2)
    })
  })
}
