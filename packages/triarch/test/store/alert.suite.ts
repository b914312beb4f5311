import { describe, expect, it } from 'vitest'
import type { AlertPost, AlertWrite } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'

const write = (name: string, given: Partial<AlertWrite> = {}): AlertWrite => {
  return { name, expected: 0, open: true, at: 1, state: '{"n":1}', posts: [], fence: null, ...given }
}
const post = (id: string, dueAt = 1): AlertPost => ({ id, sink: 'log', dueAt, state: `{"post":"${id}"}` })

export function alertSuite(bench: Bench): void {
  const ids = async (due = 100) => (await bench.store.alertPosts({ due, limit: 100 })).map(({ id }) => id)
  const named = async (...names: string[]) => bench.store.alerts({ names })

  describe('an alert', () => {
    it('is written at the revision that was read, with all that is to be told of it, or not at all', async () => {
      const { store } = bench
      expect(await store.writeAlert(write('a', { posts: [post('1'), post('2')] }))).toBe(true)
      expect(await store.writeAlert(write('a', { posts: [post('3')] }))).toBe(false)
      expect(await store.writeAlert(write('a', { expected: 7, posts: [post('3')] }))).toBe(false)
      expect(await ids()).toEqual(['1', '2'])
      expect(
        await store.writeAlert(write('a', { expected: 1, at: 2, state: '{"n":2}', posts: [post('2'), post('4')] })),
      ).toBe(true)
      expect(await named('a', 'none')).toEqual([{ name: 'a', revision: 2, open: true, at: 2, state: '{"n":2}' }])
      expect(await ids()).toEqual(['1', '2', '4'])
      expect(await store.writeAlert(write('a', { expected: 1, state: null }))).toBe(false)
      expect(await store.writeAlert(write('a', { expected: 2, state: null }))).toBe(true)
      expect(await named('a')).toEqual([])
    })

    it('is written by the leader, and by none who led before', async () => {
      const { store, clock } = bench
      const lead = async (node: string) => ({
        name: 'supervisor',
        token: await store.lead({ name: 'supervisor', node, ttl: 1_000 }),
      })
      const first = (await lead('one')) as { name: string; token: number }
      expect(await store.writeAlert(write('a', { fence: first, posts: [post('1')] }))).toBe(true)
      clock.advance(1_001)
      const late = [
        await store.writeAlert(write('b', { fence: first, posts: [post('2')] })),
        await store.writeAlert(write('a', { fence: first, expected: 1, state: null })),
        await store.settleAlertPost({ id: '1', next: null, fence: first }),
      ]
      const second = (await lead('two')) as { name: string; token: number }
      late.push(
        await store.writeAlert(write('a', { fence: first, expected: 1 })),
        await store.settleAlertPost({ id: '1', next: { dueAt: 9, state: '{}' }, fence: first }),
      )
      expect(late).toEqual([false, false, false, false, false])
      expect(await ids()).toEqual(['1'])
      expect(await store.writeAlert(write('a', { fence: second, expected: 1 }))).toBe(true)
      expect(await store.settleAlertPost({ id: '1', next: null, fence: second })).toBe(true)
    })

    it('is found by whether it ended, by name, and by how long ago', async () => {
      const { store } = bench
      for (const [index, name] of ['d', 'b', 'a', 'c'].entries()) {
        await store.writeAlert(write(name, { open: name === 'b', at: index + 1 }))
      }
      const names = async (query: Parameters<typeof store.alerts>[0]) =>
        (await store.alerts(query)).map(({ name }) => name)
      expect(await names({ open: true, after: '', limit: 10 })).toEqual(['b'])
      expect(await names({ open: false, after: '', limit: 2 })).toEqual(['a', 'c'])
      expect(await names({ open: false, after: 'a', limit: 10 })).toEqual(['c', 'd'])
      expect(await names({ endedBefore: 4, limit: 10 })).toEqual(['d', 'a'])
      expect(await names({ endedBefore: 4, limit: 1 })).toEqual(['d'])
    })

    it('is told of when that is due, later again where it failed, and no more once it is done', async () => {
      const { store } = bench
      await store.writeAlert(write('a', { posts: [post('1', 5), post('2', 3), post('3', 9)] }))
      expect(await ids(2)).toEqual([])
      expect(await store.alertPosts({ due: 5, limit: 1 })).toEqual([post('2', 3)])
      expect(await store.settleAlertPost({ id: '2', next: { dueAt: 20, state: '{"tries":1}' }, fence: null })).toBe(
        true,
      )
      expect(await ids(9)).toEqual(['1', '3'])
      expect(await store.settleAlertPost({ id: '1', next: null, fence: null })).toBe(true)
      expect(await store.settleAlertPost({ id: '1', next: null, fence: null })).toBe(false)
      expect(await store.alertPosts({ due: 20, limit: 10 })).toEqual([
        post('3', 9),
        { id: '2', sink: 'log', dueAt: 20, state: '{"tries":1}' },
      ])
    })

    it('keeps who did something to it exactly when that was done', async () => {
      const { store } = bench
      const audit = (id: string) => {
        return {
          id,
          at: 1,
          actor: 'ada',
          action: 'alert.end',
          subject: 'alert:a',
          outcome: 'done',
          text: '{}',
        } as const
      }
      await store.writeAlert(write('a', { audit: audit('1') }))
      await store.writeAlert(write('a', { audit: audit('2') }))
      await store.writeAlert(write('a', { expected: 1, audit: audit('3') }))
      await store.writeAlert(write('a', { expected: 2, state: null, audit: audit('4') }))
      const before = { at: Number.MAX_SAFE_INTEGER, seq: 0 }
      const all = { actor: null, action: null, subject: 'alert:a', since: null, limit: 100, before }
      expect(await store.audit(all)).toHaveLength(3)
    })
  })
}
