import { describe, expect, it } from 'vitest'
import type { KeyWrite } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'

const write = (name: string, given: Partial<KeyWrite> = {}): KeyWrite => {
  return { name, expected: 0, at: 1, endsAt: null, state: '{"n":1}', ...given }
}

export function keySuite(bench: Bench): void {
  describe('a key', () => {
    it('is written at the revision that was read, or not at all', async () => {
      const { store } = bench
      expect(await store.writeKey(write('a'))).toBe(true)
      expect(await store.writeKey(write('a'))).toBe(false)
      expect(await store.writeKey(write('a', { expected: 7 }))).toBe(false)
      expect(await store.writeKey(write('a', { expected: 1, at: 2, state: '{"n":2}' }))).toBe(true)
      expect(await store.keys({ names: ['a', 'none'] })).toEqual([
        { name: 'a', revision: 2, usedAt: null, state: '{"n":2}' },
      ])
      expect(await store.writeKey(write('a', { expected: 1, state: null }))).toBe(false)
      expect(await store.writeKey(write('a', { expected: 2, state: null }))).toBe(true)
      expect(await store.keys({ names: ['a'] })).toEqual([])
    })

    it('is found by name, in the order of code points, and by when it ended', async () => {
      const { store } = bench
      const ends = { b: 30, B: null, 'a.z': 10, 'a-z': 20 }
      for (const [name, endsAt] of Object.entries(ends)) await store.writeKey(write(name, { endsAt }))
      const names = async (query: Parameters<typeof store.keys>[0]) => (await store.keys(query)).map(({ name }) => name)
      expect(await names({ after: '', limit: 10 })).toEqual(['B', 'a-z', 'a.z', 'b'])
      expect(await names({ after: 'a-z', limit: 1 })).toEqual(['a.z'])
      expect(await names({ endedBefore: 30, limit: 10 })).toEqual(['a-z', 'a.z'])
      expect(await names({ endedBefore: 31, limit: 1 })).toEqual(['a-z'])
    })

    it('shows in the mark when it is changed, and not when it is used', async () => {
      const { store } = bench
      const marks = [await store.keyMark()]
      expect(marks[0]?.count).toBe(0)
      for (const [name, expected, at, state] of [
        ['a', 0, 5, '{}'],
        ['b', 0, 5, '{}'],
        ['a', 1, 6, '{}'],
        ['a', 2, 6, '{}'],
        ['a', 3, 6, null],
      ] as const) {
        expect(await store.writeKey(write(name, { expected, at, state }))).toBe(true)
        marks.push(await store.keyMark())
      }
      expect(new Set(marks.map(({ mark }) => mark)).size).toBe(6)
      expect(marks.map(({ count }) => count)).toEqual([0, 1, 2, 2, 2, 1])
      expect(await store.writeKey(write('b', { expected: 9 }))).toBe(false)
      await store.useKeys([{ name: 'b', at: 9 }])
      expect(await store.keyMark()).toEqual(marks.at(-1))
    })

    it('knows when it was used last, and takes no earlier use for it', async () => {
      const { store } = bench
      for (const name of ['a', 'b', 'c']) await store.writeKey(write(name))
      await store.useKeys([])
      await store.useKeys([
        { name: 'a', at: 7 },
        { name: 'b', at: 8 },
        { name: 'none', at: 9 },
      ])
      await store.useKeys([
        { name: 'a', at: 6 },
        { name: 'b', at: 9 },
      ])
      await store.writeKey(write('b', { expected: 1, at: 20 }))
      const used = (await store.keys({ after: '', limit: 10 })).map(({ name, usedAt }) => [name, usedAt])
      expect(used).toEqual([
        ['a', 7],
        ['b', 9],
        ['c', null],
      ])
    })
  })
}
