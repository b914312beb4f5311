import { describe, expect, it } from 'vitest'
import { advancing } from './clock.ts'
import type { Bench } from './conformance.ts'
import { claimAll, newTask, owned, transition } from './samples.ts'

export function sharedSuite(bench: Bench): void {
  describe('two stores on the same data', () => {
    it('never claim a task twice, nor lose one', async () => {
      const { store } = bench
      const other = await bench.another()
      await store.submit(Array.from({ length: 200 }, (_, i) => newTask(`t${i}`)))
      const rounds = Array.from({ length: 40 }, (_, i) =>
        (i % 2 ? store : other).claim({
          node: i % 2 ? 'a' : 'b',
          runnable: [{ workflow: 'flow', version: '1' }],
          limit: 7,
        }),
      )
      const ids = (await advancing(bench.clock, Promise.all(rounds))).flat().map(({ id }) => id)
      expect(ids).toHaveLength(200)
      expect(new Set(ids).size).toBe(200)
    })

    it('append to one history in one order only', async () => {
      const { store } = bench
      const other = await bench.another()
      const claim = await owned(store)
      const outcomes = await advancing(
        bench.clock,
        Promise.all([store, other].map((it) => it.commit([transition(claim)]))),
      )
      expect(outcomes.flat().filter(({ ok }) => ok)).toHaveLength(1)
      expect(await other.records('t', 0, 10)).toHaveLength(2)
    })

    it('see each other write', async () => {
      const { store } = bench
      const other = await bench.another()
      const before = await store.changes()
      expect(await store.changes()).toBe(before)
      await other.submit([newTask('t')])
      // It may take a moment, and a look now and then without any reason is no fault.
      const seen = async () => {
        while ((await store.changes()) === before) await new Promise((resolve) => setImmediate(resolve))
      }
      await advancing(bench.clock, seen())
      expect(await claimAll(store)).toHaveLength(1)
    })

    it('find everything again after the first was closed', async () => {
      const { store } = bench
      const claim = await owned(store)
      await store.commit([transition(claim)])
      const row = await store.task('t')
      await store.close()
      const again = await bench.another()
      expect(await again.task('t')).toEqual(row)
      expect(await again.commit([transition(claim, { seq: 3 })])).toMatchObject([{ ok: true }])
    })
  })

  describe('a submission in the caller’s transaction', () => {
    it('exists once that commits', async () => {
      const { store, subject } = bench
      await subject.transaction(async (transaction) => {
        const t = newTask('t', { tags: { a: 'b "c" \\d' }, parent: 'p' })
        expect(await store.submitIn(transaction, [t])).toMatchObject([{ created: true }])
        const again = await store.submitIn(transaction, [newTask('u'), newTask('t'), newTask('u')])
        // No other connection can see them yet: what they were is told with the answer.
        const known = { created: false, first: expect.stringContaining('"submitted"') }
        expect(again).toMatchObject([{ created: true }, known, known])
        expect(await store.submitIn(transaction, [])).toEqual([])
      })
      expect(await store.task('t')).toMatchObject({ id: 't', tags: { a: 'b "c" \\d' }, parent: 'p' })
      expect((await store.task('u'))?.parent).toBeNull()
      const one = [{ seq: 1 }]
      expect(await claimAll(store)).toMatchObject([
        { id: 't', records: one },
        { id: 'u', records: one },
      ])
    })

    it('never was when that rolls back', async () => {
      const { store, subject } = bench
      const failure = subject.transaction(async (transaction) => {
        await store.submitIn(transaction, [newTask('t')])
        throw new Error('the caller changed its mind')
      })
      await expect(failure).rejects.toThrow('changed its mind')
      expect(await store.task('t')).toBeNull()
      expect(await claimAll(store)).toEqual([])
    })

    it('needs one', async () => {
      for (const transaction of [null, undefined, 'x', {}, 1]) {
        const submitted = (async () => bench.store.submitIn(transaction, [newTask('t')]))()
        await expect(submitted).rejects.toMatchObject({ code: 'STORE_TRANSACTION_INVALID' })
      }
    })
  })
}
