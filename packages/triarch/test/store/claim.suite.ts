import { describe, expect, it } from 'vitest'
import type { Claim, StateStore } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { lettersBeside } from './letters.ts'
import { claimAll, flow, newTask, owned, released, transition } from './samples.ts'

const event = (payload: unknown) => ({ type: 'event', name: 'e', payload: payload as never }) as const
const ids = (claims: readonly Claim[]) => claims.map(({ id }) => id)

/** Unowned tasks, each with a history of so many records of so many bytes. */
async function long(store: StateStore, all: readonly string[], records: number, bytes: number): Promise<void> {
  await store.submit(all.map((id) => newTask(id)))
  const events = JSON.stringify([{ type: 'signalReceived', name: 'e', payload: 'x'.repeat(bytes) }])
  const claims = await claimAll(store, 'a')
  for (const claim of claims) {
    for (let seq = 2; seq <= records; seq++) await store.commit([transition(claim, { seq, events })])
    await store.commit([transition(claim, { seq: 0, events: null, release: { ...released, ready: true } })])
  }
}

export function claimSuite(bench: Bench): void {
  describe('a claim', () => {
    it('takes what became ready first, within a priority', async () => {
      const { store, clock } = bench
      await store.submit([newTask('old'), newTask('late', { startAt: clock.now() + 10 })])
      const [old] = await claimAll(store, 'a')
      await store.commit([transition(old as Claim, { release: released })])
      await store.submit([newTask('young'), newTask('urgent', { priority: 1 })])
      // A stream of letters for an old task starves no new one.
      await store.post([{ task: 'old', message: event(1), control: false }])
      await store.submit([newTask('youngest')])
      clock.advance(20)
      expect(ids(await claimAll(store, 'b'))).toEqual(['urgent', 'young', 'old', 'youngest', 'late'])
    })

    it('counts each span that a task waits as a level of priority, where the line ages', async () => {
      const { store } = bench
      const request = { node: 'n', runnable: [flow, { ...flow, version: '2' }], limit: 1, ageing: 1_000 }
      const at = (ms: number, priority = 0, version = '1') => ({ at: 1_800_000_000_000 + ms, priority, version })
      await store.submit([newTask('patient', at(0)), newTask('younger', at(400))])
      await store.submit([
        newTask('one', at(1_500, 1)),
        newTask('low', at(1_500, -5, '2')),
        newTask('two', at(1_500, 2)),
      ])
      const taken = ids(await store.claim(request))
      await store.submit([newTask('late', at(2_100, 2)), newTask('other', at(2_100, 1, '2'))])
      for (let n = 0; n < 6; n++) taken.push(...ids(await store.claim(request)))
      expect(taken).toEqual(['two', 'patient', 'late', 'younger', 'one', 'other', 'low'])
      expect(await store.claim(request)).toEqual([])
    })

    it('takes no task for older than those of its priority that stand before it, where the line ages', async () => {
      const { store, clock } = bench
      const at = (ms: number, priority: number) => ({ at: 1_800_000_000_000 + ms, priority })
      await store.submit([newTask('asleep', at(0, 1))])
      const [asleep] = await claimAll(store, 'a')
      await store.commit([transition(asleep as Claim, { release: { ...released, wakeAt: clock.now() + 1_000 } })])
      await store.submit([newTask('first', at(59_000, 1)), newTask('urgent', at(60_000, 5))])
      clock.advance(2_000)
      const request = { node: 'n', runnable: [flow], limit: 2, ageing: 1_000 }
      // It became ready just now, though nothing was written of it for a minute.
      expect(ids(await store.claim(request)).sort()).toEqual(['first', 'urgent'])
      expect(ids(await store.claim(request))).toEqual(['asleep'])
    })

    it('takes as many as fit its bounds, and one at least', async () => {
      const { store } = bench
      await long(store, ['a', 'b', 'c'], 3, 1_000)
      const request = { node: 'n', runnable: [flow], limit: 10 }
      const [first, ...others] = await store.claim({ ...request, bytes: 100 })
      expect([first?.id, others]).toEqual(['a', []])
      const two = await store.claim({ ...request, records: 6 })
      expect(ids(two)).toEqual(['b', 'c'])
      expect(two.map(({ more }) => more ?? false)).toEqual([false, false])
    })

    it('counts the submission of a task that has continued as another run: it comes with the rest', async () => {
      const { store } = bench
      const events = JSON.stringify([{ type: 'submitted', workflow: flow.workflow, input: 'x'.repeat(1_000) }])
      await store.submit(['a', 'b'].map((id) => newTask(id, { events })))
      for (const claim of await claimAll(store, 'a')) {
        await store.commit([transition(claim, { seq: 2, rebase: true })])
        await store.commit([transition(claim, { seq: 0, events: null, release: { ...released, ready: true } })])
      }
      const request = { runnable: [flow], limit: 10 }
      const [first, ...others] = await store.claim({ node: 'n', ...request, bytes: 1_500 })
      expect([first?.id, others]).toEqual(['a', []])
      expect(first?.records.map(({ seq }) => seq)).toEqual([1, 2])
    })

    it('leaves those to others that it is told to, and takes what comes after them', async () => {
      const { store } = bench
      await store.submit(['a', 'b', 'c'].map((id) => newTask(id)))
      await store.post([{ task: 'b', message: { type: 'tick' }, control: true }])
      const except = await Promise.all(['a', 'b'].map(async (id) => (await store.task(id))?.key ?? 0))
      const request = { runnable: [flow], limit: 1, except }
      expect(await store.claim({ node: 'a', ...request })).toMatchObject([{ id: 'c' }])
      expect(await store.claim({ node: 'a', ...request, trial: true })).toEqual([])
      expect((await store.claim({ node: 'b', runnable: [flow], limit: 9 })).map(({ id }) => id)).toEqual(['a', 'b'])
      // On trial as well.
      for (const node of ['b', 'c', 'd']) {
        await store.leave(node)
        await store.claim({ node: String.fromCharCode(node.charCodeAt(0) + 1), runnable: [flow], limit: 9 })
      }
      expect(await store.claim({ node: 'x', ...request, trial: true })).toEqual([])
      expect(await store.claim({ node: 'x', ...request, except: [], trial: true })).toMatchObject([{ trial: {} }])
    })

    it('says that it left something behind', async () => {
      const { store } = bench
      await store.submit(['a', 'b', 'c'].map((id) => newTask(id)))
      const request = { node: 'n', runnable: [flow] }
      expect((await store.claim({ ...request, limit: 1 })).at(-1)?.more).toBe(true)
      expect((await store.claim({ ...request, limit: 10, records: 1 })).at(-1)?.more).toBe(true)
      expect((await store.claim({ ...request, limit: 10, records: 1 })).at(-1)?.more).toBeUndefined()
    })

    it('gives a history that is too large by pages, of which the first comes with it', async () => {
      const { store } = bench
      await long(store, ['big'], 6, 1_000)
      const [claim] = await store.claim({ node: 'n', runnable: [flow], limit: 10, bytes: 2_500 })
      expect(claim?.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
      expect(claim?.rest).toBeGreaterThan(5_000)
      const page = { records: 100, bytes: 500 }
      expect((await store.replay('big', { after: 4, ...page })).map(({ seq }) => seq)).toEqual([5])
      expect((await store.replay('big', { after: 5, ...page })).map(({ seq }) => seq)).toEqual([6])
      expect(await store.replay('big', { after: 6, ...page })).toEqual([])
      expect((await store.records('big', 1, { records: 2, bytes: 1e9 })).map(({ seq }) => seq)).toEqual([2, 3])
      expect((await store.records('big', 1, page)).map(({ seq }) => seq)).toEqual([2])
      for (const after of [2 ** 31, 99_999_999_999, Number.MAX_SAFE_INTEGER])
        expect(await store.records('big', after, page)).toEqual([])
    })

    it('takes letters in portions, of which the rest is read by and by', async () => {
      const { store } = bench
      await owned(store, 't')
      const posts = Array.from({ length: 300 }, (_, i) => ({ task: 't', message: event(i), control: false }))
      await store.post(posts)
      await store.leave('a')
      const [claim] = await claimAll(store, 'b')
      expect(claim?.unread).toBe(true)
      const read = claim?.letters ?? []
      expect(read.length).toBeGreaterThan(0)
      for (;;) {
        const some = await store.taskInbox(claim?.key ?? 0, read.at(-1)?.id ?? 0, { limit: 70, bytes: 1e9 })
        if (some.length === 0) break
        read.push(...some)
      }
      expect(read.map(({ message }) => (message as { payload?: unknown }).payload)).toEqual(posts.map((_, i) => i))
    })

    it('takes what fits its bytes to the last one', async () => {
      const { store } = bench
      await long(store, ['a', 'b', 'c'], 2, 1_000)
      const request = { node: 'n', runnable: [flow], limit: 10 }
      const text = (await store.records('a', 0, 10)).map(({ events }) => events).join('')
      expect(ids(await store.claim({ ...request, bytes: 2 * text.length }))).toEqual(['a', 'b'])
    })

    it('takes letters up to its bytes, and says of which task it left some', async () => {
      const { store } = bench
      await store.submit(['a', 'b', 'c'].map((id) => newTask(id)))
      const letter = { message: event('x'.repeat(500)), control: false }
      await store.post(['a', 'a', 'b'].map((task) => ({ task, ...letter })))
      const claims = await store.claim({ node: 'n', runnable: [flow], limit: 10, bytes: 1_000 })
      expect(claims.map(({ rest }) => rest)).toEqual([undefined, undefined, undefined])
      expect(claims.map(({ id, letters, unread }) => [id, letters.length, unread ?? false])).toEqual([
        ['a', 2, false],
        ['b', 0, true],
        ['c', 0, false],
      ])
    })

    it('tries apart, on demand, what was orphaned again and again without a new record: by itself after a strike', async () => {
      const { store } = bench
      await store.submit([newTask('poison'), newTask('fine')])
      for (const node of ['a', 'b', 'c']) {
        expect(await claimAll(store, node)).toHaveLength(2)
        await store.leave(node)
      }
      await store.submit([newTask('new')])
      expect(ids(await claimAll(store, 'd'))).toEqual(['new'])
      const trial = { runnable: [flow], limit: 10, trial: true }
      const tried = await store.claim({ node: 'd', ...trial })
      expect(tried).toMatchObject(['poison', 'fine'].map((id) => ({ id, trial: { strikes: 0 } })))
      const fine = tried[1]
      await store.clearSuspicion({ key: fine?.key ?? 0, node: 'd', epoch: fine?.epoch ?? 0 })
      await store.leave('d')
      // The acquitted one is like any other; each owner that dies is a strike for the one it had on trial.
      expect(ids(await claimAll(store, 'e')).sort()).toEqual(['fine', 'new'])
      expect(await store.claim({ node: 'e', ...trial })).toMatchObject([{ id: 'poison', trial: { strikes: 1 } }])
      // An answer that was lost is nobody's death.
      const again = await store.claim({ node: 'e', ...trial, held: ['fine', 'new'] })
      expect(again).toMatchObject([{ id: 'poison', trial: { strikes: 1 } }])
      await store.leave('e')
      expect(await store.claim({ node: 'f', ...trial })).toMatchObject([{ id: 'poison', trial: { strikes: 2 } }])
    })

    it('tries no more at once than the bound, nor than was asked for, and nobody that has a strike beside others', async () => {
      const { store } = bench
      const many = Array.from({ length: 11 }, (_, n) => `t${n}`)
      await store.submit(many.map((id) => newTask(id)))
      for (const node of ['a', 'b', 'c']) {
        expect(await claimAll(store, node)).toHaveLength(11)
        await store.leave(node)
      }
      const trial = { runnable: [flow], trial: true }
      expect(ids(await store.claim({ node: 'd', limit: 2, ...trial }))).toEqual(['t0', 't1'])
      expect(ids(await store.claim({ node: 'd', limit: 100, ...trial }))).toEqual(many.slice(2, 10))
      await store.leave('d')
      expect(ids(await store.claim({ node: 'e', limit: 100, ...trial }))).toEqual(['t10'])
      const strikes = { trial: { strikes: 1 } }
      expect(await store.claim({ node: 'e', limit: 100, ...trial })).toMatchObject([{ id: 't0', ...strikes }])
      expect(await store.claim({ node: 'e', limit: 100, ...trial })).toMatchObject([{ id: 't1', ...strikes }])
    })
  })

  describe('the inbox', () => {
    it('is read up to a number of bytes', async () => {
      const { store } = bench
      await owned(store, 't')
      await store.post(
        Array.from({ length: 5 }, () => ({ task: 't', message: event('x'.repeat(1_000)), control: false })),
      )
      expect(await store.inbox('a', 10, { bytes: 1 })).toHaveLength(1)
      expect(await store.inbox('a', 10, { bytes: 2_500 })).toHaveLength(3)
      expect(await store.inbox('a', 2, { bytes: 2_500 })).toHaveLength(2)
      const size = Buffer.byteLength(JSON.stringify(event('x'.repeat(1_000))))
      expect(await store.inbox('a', 10, { bytes: 2 * size })).toHaveLength(2)
    })

    it('tells nothing again that is at hand, though it counts', () => lettersBeside(bench.store))

    it('gives each task its share, however many letters another has', async () => {
      const { store } = bench
      const claims = [await owned(store, 'flooded'), await owned(store, 'b'), await owned(store, 'c')]
      const [flooded, b, c] = claims.map(({ key }) => key)
      await store.post(Array.from({ length: 50 }, (_, i) => ({ task: 'flooded', message: event(i), control: false })))
      await store.post(['b', 'c'].map((task) => ({ task, message: event(task), control: false })))
      const each = { limit: 2, bytes: 1e6, after: 0, skip: [] as number[] }
      const keys = async (bounds: object) =>
        (await store.inbox('a', 10, { bytes: 1e6, each: { ...each, ...bounds } })).map(({ key }) => key)
      expect(await keys({})).toEqual([flooded, flooded, b, c])
      expect(await keys({ skip: [flooded] })).toEqual([b, c])
      expect(await keys({ after: b })).toEqual([c])
      expect(await keys({ bytes: 1 })).toEqual([flooded, b, c])
      // Of all that one reading may have, and whether there may be more.
      const some = async (limit: number, bytes: number) => {
        const read = await store.inbox('a', limit, { bytes, each })
        return [...read.map(({ key }) => key), read.at(-1)?.more ?? false]
      }
      expect(await some(10, 1e6)).toEqual([flooded, flooded, b, c, false])
      expect(await some(3, 1e6)).toEqual([flooded, flooded, b, true])
      expect(await some(2, 1e6)).toEqual([flooded, flooded, true])
      expect(await some(10, 1)).toEqual([flooded, true])
      expect(await some(10, 2 * Buffer.byteLength(JSON.stringify(event(0))))).toEqual([flooded, flooded, true])
    })
  })
}
