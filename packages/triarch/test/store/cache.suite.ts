import { describe, expect, it } from 'vitest'
import type { Bench } from './conformance.ts'

/** Given this instant. */
const NOW = Number.MAX_SAFE_INTEGER
const write = (key: string, keep = 1_000, seen = 0) => ({ key, node: 'b', value: `"${key}"`, seen, at: NOW, keep })

export function cacheSuite(bench: Bench): void {
  describe('a kept answer', () => {
    it('is there as it was kept, in the place of the one before, until it expires', async () => {
      const { store, clock } = bench
      expect(await store.readCache('a')).toEqual({ answer: null, flying: false })
      await store.writeCache(write('a'))
      clock.advance(400)
      expect(await store.readCache('a')).toEqual({
        answer: { key: 'a', value: '"a"', seen: 0, age: 400 },
        flying: false,
      })
      await store.writeCache({ ...write('a', 1_000, 7), value: '"b"' })
      clock.advance(999)
      expect((await store.readCache('a')).answer).toMatchObject({ value: '"b"', seen: 7, age: 999 })
      clock.advance(1)
      expect((await store.readCache('a')).answer).toBeNull()
    })

    it('is as old as it is, however late it comes, and in the place of none that is younger', async () => {
      const { store, clock } = bench
      const old = { ...write('a'), at: clock.now() }
      clock.advance(300)
      await store.writeCache(old)
      expect((await store.readCache('a')).answer).toMatchObject({ age: 300 })
      clock.advance(100)
      await store.writeCache({ ...write('a', 1_000, 7), value: '"b"' })
      await store.heartbeat({ id: 'n', roles: [], lease: 100_000 })
      await store.beginFill({ key: 'a', node: 'n', within: 5_000 })
      // As a sender does that got no answer.
      await store.writeCache(old)
      expect(await store.readCache('a')).toMatchObject({ answer: { value: '"b"', age: 0 }, flying: true })
    })

    it('is asked for by one node at a time, as long as that lives and has time', async () => {
      const { store, clock } = bench
      for (const id of ['a', 'b']) await store.heartbeat({ id, roles: [], lease: 100_000 })
      const fly = async (node: string, within = 1_000) => (await store.beginFill({ key: 'k', node, within })).begun
      expect([await fly('a'), await fly('b'), await fly('a')]).toEqual([true, false, true])
      expect(await store.readCache('k')).toEqual({ answer: null, flying: true })
      await store.endFill({ key: 'k', node: 'b' })
      expect(await fly('b')).toBe(false)
      await store.endFill({ key: 'k', node: 'a' })
      expect(await fly('b')).toBe(true)
      clock.advance(1_000)
      expect((await store.readCache('k')).flying).toBe(false)
      expect(await fly('a', 50_000)).toBe(true)
      await store.declareDead(['a'])
      expect((await store.readCache('k')).flying).toBe(false)
      expect(await fly('b')).toBe(true)
      await store.writeCache(write('k'))
      expect(await store.readCache('k')).toMatchObject({ answer: { value: '"k"' }, flying: false })
    })

    it('ends the flight of the node that asked for it, and not that of another, which may outlast the answer', async () => {
      const { store, clock } = bench
      for (const id of ['a', 'b']) await store.heartbeat({ id, roles: [], lease: 100_000 })
      expect(await store.beginFill({ key: 'k', node: 'a', within: 5_000 })).toEqual({ begun: true, answer: null })
      await store.writeCache(write('k'))
      expect(await store.readCache('k')).toMatchObject({ answer: { value: '"k"' }, flying: true })
      clock.advance(2_000)
      expect(await store.trimCache({ limit: 100, marks: 100, answers: 100 })).toBe(0)
      expect(await store.beginFill({ key: 'k', node: 'b', within: 5_000 })).toEqual({ begun: false, answer: null })
      await store.writeCache({ ...write('k'), node: 'a' })
      expect(await store.readCache('k')).toMatchObject({ answer: { value: '"k"' }, flying: false })
    })

    it('is told to whoever begins a fill after it came, and to nobody who does not begin one', async () => {
      const { store, clock } = bench
      for (const id of ['a', 'b']) await store.heartbeat({ id, roles: [], lease: 100_000 })
      expect(await store.beginFill({ key: 'k', node: 'a', within: 5_000 })).toEqual({ begun: true, answer: null })
      await store.writeCache({ ...write('k', 1_000, 3), node: 'a' })
      clock.advance(200)
      expect(await store.beginFill({ key: 'k', node: 'b', within: 5_000 })).toEqual({
        begun: true,
        answer: { key: 'k', value: '"k"', seen: 3, age: 200 },
      })
      expect(await store.beginFill({ key: 'k', node: 'a', within: 5_000 })).toEqual({ begun: false, answer: null })
    })

    it('ends the fill of its node also when a newer one is kept', async () => {
      const { store, clock } = bench
      for (const id of ['a', 'b']) await store.heartbeat({ id, roles: [], lease: 100_000 })
      const old = { ...write('k'), node: 'a', at: clock.now(), value: '"old"' }
      clock.advance(100)
      await store.writeCache(write('k'))
      await store.beginFill({ key: 'k', node: 'a', within: 5_000 })
      await store.writeCache({ ...old, node: 'b' })
      expect(await store.readCache('k')).toMatchObject({ answer: { value: '"k"', age: 0 }, flying: true })
      await store.writeCache(old)
      expect(await store.readCache('k')).toMatchObject({ answer: { value: '"k"', age: 0 }, flying: false })
    })

    it('is told not to be valid by names, each time with a higher generation', async () => {
      const { store } = bench
      expect(await store.invalidated(0)).toEqual({ last: 0, floor: 0, marks: [] })
      expect(await store.invalidate(['x'])).toBe(1)
      expect(await store.invalidate(['y', 'z', 'y'])).toBe(2)
      const { marks, ...rest } = await store.invalidated(1)
      expect(rest).toEqual({ last: 2, floor: 0 })
      expect(marks.sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
        { name: 'y', generation: 2 },
        { name: 'z', generation: 2 },
      ])
      expect(await store.invalidate(['x'])).toBe(3)
      expect(await store.invalidated(2)).toEqual({ last: 3, floor: 0, marks: [{ name: 'x', generation: 3 }] })
      expect(await store.invalidated(3)).toEqual({ last: 3, floor: 0, marks: [] })
    })

    it('goes when it has expired, or when there are too many; and with the oldest marks, what they were is forgotten', async () => {
      const { store, clock } = bench
      for (let n = 1; n <= 6; n++) await store.writeCache(write(`k${n}`, n * 1_000))
      for (let n = 1; n <= 4; n++) await store.invalidate([`n${n}`])
      const bounds = { limit: 100, marks: 100, answers: 100 }
      expect(await store.trimCache(bounds)).toBe(0)
      clock.advance(2_000)
      expect(await store.trimCache({ ...bounds, limit: 1 })).toBe(1)
      expect(await store.trimCache(bounds)).toBe(1)
      expect(await store.trimCache({ ...bounds, answers: 2, marks: 2 })).toBe(2)
      const left = await Promise.all([3, 4, 5, 6].map(async (n) => (await store.readCache(`k${n}`)).answer !== null))
      expect(left).toEqual([false, false, true, true])
      const { last, floor, marks } = await store.invalidated(0)
      expect([last, floor, marks.map(({ name }) => name).sort()]).toEqual([4, 2, ['n3', 'n4']])
    })
  })
}
