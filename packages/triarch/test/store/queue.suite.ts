import { describe, expect, it } from 'vitest'
import type { StateStore } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { claimAll, creation, flow, newTask, owned, released, replyTo, transition, workRequest } from './samples.ts'

const take = (store: StateStore, node = 'agent', limit = 10, actions = ['pay.charge']) =>
  store.takeWork({ node, agents: [{ agent: 'pay', actions, limit }] })

export function queueSuite(bench: Bench): void {
  describe('a claim', () => {
    it('takes the highest priority first, then the oldest, across workflows', async () => {
      const { store } = bench
      const other = { workflow: 'other', version: '7' }
      await store.submit([
        newTask('low', { priority: -1 }),
        newTask('first'),
        newTask('second', other),
        newTask('third'),
        newTask('high', { ...other, priority: 5 }),
      ])
      const ids = async (limit: number) => (await claimAll(store, 'a', [flow, other], limit)).map(({ id }) => id)
      expect(await ids(2)).toEqual(['high', 'first'])
      expect(await ids(10)).toEqual(['second', 'third', 'low'])
      expect(await ids(10)).toEqual([])
    })

    it('owns the task under the next epoch and brings its history', async () => {
      const { store } = bench
      const claim = await owned(store)
      expect(claim).toMatchObject({ ...flow, epoch: 1, orphaned: false, letters: [], work: [] })
      expect(claim.records).toEqual(await store.records('t', 0, 10))
      await store.commit([transition(claim, { release: { ...released, ready: true } })])
      expect(await claimAll(store, 'b')).toMatchObject([{ key: claim.key, epoch: 2, orphaned: false }])
      expect(await store.task('t')).toMatchObject({ lockedBy: 'b', epoch: 2 })
    })

    it('leaves tasks alone whose version the node cannot run, and passes by a pile of them', async () => {
      const { store } = bench
      const pile = Array.from({ length: 2_000 }, (_, i) => newTask(`p${i}`, { version: '0', priority: 9 }))
      await store.submit([...pile, newTask('t')])
      expect((await claimAll(store)).map(({ id }) => id)).toEqual(['t'])
      expect(await store.counts()).toMatchObject({ tasks: 2_001, ready: 2_000 })
    })

    it('takes a task of any version when the kernel alone can act on its letter', async () => {
      const { store } = bench
      await store.submit([newTask('x', { version: '0' }), newTask('y', { version: '0' })])
      await store.post([
        { task: 'x', message: { type: 'cancel', force: false, compensate: null }, control: true },
        { task: 'y', message: { type: 'tick' }, control: false },
      ])
      expect(await claimAll(store)).toMatchObject([
        { id: 'x', version: '0', letters: [{ message: { type: 'cancel' } }] },
      ])
      expect(await claimAll(store)).toEqual([])
    })

    it('never wakes a sleeper early', async () => {
      const { store, clock } = bench
      const at = clock.now()
      await store.submit([newTask('later', { startAt: at + 1_000, status: 'scheduled' })])
      const t = await owned(store)
      await store.commit([transition(t, { release: { ...released, wakeAt: at + 500 } })])
      expect(await store.nextWake()).toBe(at + 500)
      clock.advance(499)
      expect(await claimAll(store)).toEqual([])
      clock.advance(1)
      expect(await claimAll(store)).toMatchObject([{ id: 't', epoch: 2 }])
      expect(await store.nextWake()).toBe(at + 1_000)
      clock.advance(500)
      expect(await claimAll(store)).toMatchObject([{ id: 'later', epoch: 1 }])
      expect(await store.nextWake()).toBeNull()
    })

    it('reaches every task whose sleep is over, however many', async () => {
      const { store, clock } = bench
      const startAt = clock.now() + 10
      await store.submit(Array.from({ length: 2_500 }, (_, i) => newTask(`s${i}`, { startAt, status: 'scheduled' })))
      expect(await claimAll(store)).toEqual([])
      clock.advance(10)
      const seen = new Set<string>()
      for (let round = 0; round < 30 && seen.size < 2_500; round++) {
        for (const { id } of await claimAll(store, 'a', [flow], 100)) seen.add(id)
      }
      expect(seen.size).toBe(2_500)
    })
  })

  describe('the work queue', () => {
    it('hands out the most urgent first and fixes its complete-by', async () => {
      const { store, clock } = bench
      const t = await owned(store)
      const expiresAt = clock.now() + 300
      await store.commit([
        transition(t, {
          work: [
            workRequest('t', 1),
            workRequest('t', 2, { priority: 3, expiresAt, heartbeatWithin: 50 }),
            workRequest('t', 3),
            workRequest('t', 4, { agent: 'mail' }),
          ],
        }),
      ])
      const items = await take(store, 'agent', 2)
      expect(items.map(({ request }) => request.step)).toEqual([2, 1])
      expect(items[0]).toMatchObject({ completeBy: expiresAt, heartbeatWithin: 50, agent: 'pay' })
      expect(items[1]).toMatchObject({ completeBy: clock.now() + 1_000, request: workRequest('t', 1).request })
      expect((await take(store)).map(({ request }) => request.step)).toEqual([3])
      expect(await take(store)).toEqual([])
      expect(await store.counts()).toMatchObject({ work: 4 })
    })

    it('gives a node only requests whose action it knows', async () => {
      const { store } = bench
      const t = await owned(store)
      const refund = { action: 'pay.refund', priority: 9 }
      await store.commit([transition(t, { work: [workRequest('t', 1, refund), workRequest('t', 2)] })])
      const steps = async (...actions: string[]) =>
        (await take(store, 'agent', 10, actions)).map(({ request }) => request.step)
      expect(await steps()).toEqual([])
      expect(await steps('pay.charge', 'pay.void')).toEqual([2])
      expect(await steps('pay.charge')).toEqual([])
      expect(await steps('pay.refund')).toEqual([1])
    })

    it('takes a reply once, from the node that has the work', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1)] })])
      const [item] = await take(store)
      const reply = { work: item?.id ?? 0, message: replyTo(1) }
      expect(await store.reply([{ ...reply, node: 'thief' }])).toEqual([false])
      expect(
        await store.reply([
          { ...reply, node: 'agent' },
          { ...reply, node: 'agent' },
        ]),
      ).toEqual([true, false])
      expect(await store.reply([{ ...reply, node: 'agent' }])).toEqual([false])
      expect(await store.inbox('a', 10)).toMatchObject([{ key: t.key, message: replyTo(1) }])
      expect(await store.counts()).toMatchObject({ work: 0, inbox: 1 })
    })

    it('takes nothing that is said of another request than the one of its number: the store may have given that anew', async () => {
      const { store } = bench
      const claim = await owned(store)
      await store.commit([transition(claim, { work: [workRequest('t', 1)] })])
      const [item] = await take(store)
      const place = { work: item?.id ?? 0, node: 'agent' }
      const mark = { task: 't', step: 1, operation: 'run', attempt: 1 } as const
      const others = [{ task: 'u' }, { step: 2 }, { operation: 'verify' as const }, { attempt: 2 }].map((change) => {
        return { ...place, of: { ...mark, ...change } }
      })
      for (const other of others) {
        expect(await store.reply([{ ...other, message: replyTo(1) }])).toEqual([false])
        expect(await store.heartbeatWork([{ ...other, message: null }])).toEqual(['late'])
      }
      expect(await store.inbox('a', 10)).toEqual([])
      expect(await store.heartbeatWork([{ ...place, of: mark, message: null }])).toEqual(['ok'])
      expect(await store.reply([{ ...place, of: mark, message: replyTo(1) }])).toEqual([true])
      expect(await store.inbox('a', 10)).toHaveLength(1)
    })

    it('takes what is said in one call with a word on another request, and the first of two', async () => {
      const { store } = bench
      const claim = await owned(store)
      await store.commit([transition(claim, { work: [workRequest('t', 1), workRequest('t', 2), workRequest('t', 3)] })])
      const works = await take(store)
      const replies = works.map(({ id, request: { task, step, operation, attempt } }) => ({
        ...{ work: id, node: 'agent', of: { task, step, operation, attempt } },
        message: replyTo(step),
      }))
      const [first, second, third] = replies as [(typeof replies)[0], (typeof replies)[0], (typeof replies)[0]]
      const other = { ...second, of: { ...second.of, task: 'u' } }
      expect(await store.reply([third, other, first, third])).toEqual([true, false, true, false])
      expect(await store.reply([second])).toEqual([true])
      expect(await store.inbox('a', 10)).toHaveLength(3)
    })

    it('goes over to another node, which may be said twice; from then on only that one is heard', async () => {
      const { store } = bench
      const claim = await owned(store)
      await store.commit([transition(claim, { work: [workRequest('t', 1)] })])
      const [item] = await take(store)
      const of = { task: 't', step: 1, operation: 'run', attempt: 1 } as const
      const order = { work: item?.id ?? 0, node: 'agent', to: 'heir', of }
      const another = { ...order, of: { ...of, attempt: 2 } }
      expect(await store.adoptWork([{ ...order, node: 'nobody' }, another, order])).toEqual([null, null, item])
      expect(await store.adoptWork([order])).toEqual([item])
      expect(await store.reply([{ work: order.work, node: 'agent', of, message: replyTo(1) }])).toEqual([false])
      expect(await store.reply([{ work: order.work, node: 'heir', of, message: replyTo(1) }])).toEqual([true])
      expect(await store.adoptWork([order])).toEqual([null])
    })

    it('wakes the unowned task a reply is for, and tells its next owner what is outstanding', async () => {
      const { store } = bench
      await store.commit([
        creation(newTask('t'), { work: [workRequest('t', 1), workRequest('t', 2)], release: released }),
      ])
      const [first] = await take(store, 'agent', 1)
      expect(await claimAll(store)).toEqual([])
      await store.reply([{ work: first?.id ?? 0, node: 'agent', message: replyTo(1) }])
      expect(await claimAll(store)).toMatchObject([
        { id: 't', epoch: 2, letters: [{ message: replyTo(1) }], work: [{ step: 2, operation: 'run', attempt: 1 }] },
      ])
    })

    it('withdraws what nobody took at once and tells who runs the rest', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1), workRequest('t', 2), workRequest('t', 3)] })])
      const [first] = await take(store, 'agent', 1)
      const beat = { work: first?.id ?? 0, node: 'agent', message: null }
      expect(await store.heartbeatWork([beat])).toEqual(['ok'])
      await store.commit([transition(t, { seq: 3, withdraw: [1, 2] })])
      const withdrawn = { type: 'reply', step: 2, outcome: { kind: 'withdrawn' }, startedAt: null }
      expect(await store.inbox('a', 10)).toMatchObject([{ message: withdrawn }])
      expect(await store.heartbeatWork([beat])).toEqual(['withdrawn'])
      expect((await take(store)).map(({ request }) => request.step)).toEqual([3])
      expect(await store.reply([{ ...beat, message: replyTo(1) }])).toEqual([true])
    })

    it('keeps a withdrawal reply for a task released with it', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1)] })])
      await store.commit([transition(t, { seq: 3, withdraw: [1], release: released })])
      expect(await claimAll(store)).toMatchObject([{ letters: [{ message: { outcome: { kind: 'withdrawn' } } }] }])
    })

    it('forgets what no longer matters: its replies are late', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1), workRequest('t', 2)] })])
      const [first] = await take(store, 'agent', 1)
      await store.commit([transition(t, { seq: 3, forget: [1, 2] })])
      expect(await store.reply([{ work: first?.id ?? 0, node: 'agent', message: replyTo(1) }])).toEqual([false])
      expect(await store.heartbeatWork([{ work: first?.id ?? 0, node: 'agent', message: null }])).toEqual(['late'])
      expect(await store.counts()).toMatchObject({ work: 0, inbox: 0 })
    })

    it('delivers heartbeats to the owner of the task', async () => {
      const { store } = bench
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1)] })])
      const [first] = await take(store)
      const message = { type: 'heartbeat', step: 1, attempt: 1, progress: 0.5 } as const
      const beats = ['agent', 'thief'].map((node) => ({ work: first?.id ?? 0, node, message }))
      expect(await store.heartbeatWork(beats)).toEqual(['ok', 'late'])
      expect(await store.inbox('a', 10)).toMatchObject([{ key: t.key, message }])
    })
  })
}
