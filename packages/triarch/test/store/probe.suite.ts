import { describe, expect, it } from 'vitest'
import type { ProbeWrite } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'

const leading = { name: 'prober', node: 'a', token: 1 }
const row = (name: string, at = 1) => ({ name, at, state: `{"at":${at}}`, results: `[${at}]` })

export function probeSuite(bench: Bench): void {
  const write = (given: Partial<ProbeWrite>) => bench.store.writeProbes({ leading, kept: [], dropped: [], ...given })
  const led = async () => {
    const { store } = bench
    for (const id of ['a', 'b']) await store.heartbeat({ id, roles: [], lease: 1_000 })
    expect(await store.elect({ name: 'prober', node: 'a', expected: 0 })).toBe(true)
  }

  describe('what a prober knows', () => {
    it('is kept in the place of what was known before, and dropped where nobody watches any more', async () => {
      const { store } = bench
      await led()
      expect(await write({ kept: [row('b'), row('B'), row('a.z')] })).toBe(true)
      expect(await write({ kept: [row('b', 2), row('c', 2)], dropped: ['B', 'none'] })).toBe(true)
      const rows = [row('a.z'), row('b', 2), row('c', 2)]
      expect(await store.probes({ after: '', limit: 10, results: true })).toEqual(rows)
      expect(await store.probes({ names: ['c', 'none', 'b'], results: true })).toEqual(rows.slice(1))
    })

    it('is listed in the order of code points, and without its history where nobody asks for that', async () => {
      const { store } = bench
      await led()
      await write({ kept: ['b', 'B', 'a-z', 'a.z'].map((name) => row(name)) })
      const page = async (after: string, limit: number) =>
        (await store.probes({ after, limit, results: false })).map(({ name, results }) => [name, results])
      expect(await page('', 2)).toEqual([
        ['B', null],
        ['a-z', null],
      ])
      expect(await page('a-z', 9)).toEqual([
        ['a.z', null],
        ['b', null],
      ])
    })

    it('is written by whoever leads alone, all of it or nothing', async () => {
      const { store } = bench
      await led()
      await write({ kept: [row('x')] })
      expect(await write({ leading: { ...leading, node: 'b' }, kept: [row('x', 2)], dropped: [] })).toBe(false)
      expect(await write({ leading: { ...leading, token: 2 }, dropped: ['x'] })).toBe(false)
      await store.declareDead(['a'])
      expect(await store.elect({ name: 'prober', node: 'b', expected: 1 })).toBe(true)
      expect(await write({ kept: [row('x', 3), row('y', 3)], dropped: ['x'] })).toBe(false)
      expect(await store.probes({ after: '', limit: 10, results: true })).toEqual([row('x')])
      expect(await write({ leading: { name: 'prober', node: 'b', token: 2 }, kept: [row('x', 4)] })).toBe(true)
      await store.resign({ name: 'prober', node: 'b', token: 2 })
      expect(await write({ leading: { name: 'prober', node: 'b', token: 2 }, kept: [row('x', 5)] })).toBe(false)
      expect(await store.probes({ names: ['x'], results: true })).toEqual([row('x', 4)])
    })
  })
}
