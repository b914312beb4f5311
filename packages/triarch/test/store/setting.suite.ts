import { describe, expect, it } from 'vitest'
import type { SettingWrite } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'

const write = (name: string, expected: number, at = 1): SettingWrite => {
  return { name, expected, at, state: `{"n":${expected + 1}}`, change: `{"c":${expected + 1}}` }
}

export function settingSuite(bench: Bench): void {
  describe('a setting', () => {
    it('is written at the revision that was read, with its change, or not at all', async () => {
      const { store } = bench
      expect(await store.writeSetting(write('limits', 0))).toBe(true)
      expect(await store.writeSetting(write('limits', 0))).toBe(false)
      expect(await store.writeSetting(write('limits', 2))).toBe(false)
      expect(await store.writeSetting(write('limits', 1))).toBe(true)
      expect(await store.settings({ names: ['limits', 'none'] })).toEqual([
        { name: 'limits', revision: 2, state: '{"n":2}' },
      ])
      expect(await store.settingChanges({ name: 'limits', before: null, limit: 10 })).toEqual([
        { revision: 2, change: '{"c":2}' },
        { revision: 1, change: '{"c":1}' },
      ])
    })

    it('is found by name, in the order of code points, and its changes from the last on', async () => {
      const { store } = bench
      for (const name of ['b', 'B', 'a.z', 'a-z']) expect(await store.writeSetting(write(name, 0))).toBe(true)
      for (const revision of [1, 2, 3]) await store.writeSetting(write('b', revision))
      const names = async (after: string, limit: number) =>
        (await store.settings({ after, limit })).map(({ name }) => name)
      expect(await names('', 10)).toEqual(['B', 'a-z', 'a.z', 'b'])
      expect(await names('a-z', 1)).toEqual(['a.z'])
      const page = await store.settingChanges({ name: 'b', before: 4, limit: 2 })
      expect(page.map(({ revision }) => revision)).toEqual([3, 2])
    })

    it('shows in the next look, and nothing else does', async () => {
      const { store } = bench
      const mark = async () => (await store.poll({ node: 'n', runnable: [], actions: [], lease: 'l' })).settings
      const none = await mark()
      expect(none).toBe('0:0:0')
      await store.heartbeat({ id: 'n', roles: [], lease: 1_000 })
      expect(await mark()).toBe(none)
      const marks = new Set([none])
      for (const [name, expected, at] of [
        ['a', 0, 5],
        ['b', 0, 5],
        ['a', 1, 6],
        ['a', 2, 6],
      ] as const) {
        await store.writeSetting(write(name, expected, at))
        marks.add(await mark())
      }
      expect(marks.size).toBe(5)
      expect(await store.writeSetting(write('a', 0, 9))).toBe(false)
      expect(marks).toContain(await mark())
    })
  })
}
