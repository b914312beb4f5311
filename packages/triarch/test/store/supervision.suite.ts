import { describe, expect, it } from 'vitest'
import type { StateStore, SweepReport } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { claimAll, flow, newTask, owned, released, replyTo, snapshot, transition, workRequest } from './samples.ts'

const pay = { agent: 'pay', actions: ['pay.charge'], limit: 1 }

const name = 'supervisor'
const nothing: SweepReport = {
  deadNodes: [],
  releasedTasks: 0,
  expiredSteps: 0,
  overdueTasks: 0,
  schedules: false,
  more: false,
}

/** Sweeps as a leader with a long lease. */
async function sweep(store: StateStore, limit = 100): Promise<SweepReport | null> {
  const token = await store.lead({ name, node: 'leader', ttl: 1_000_000 })
  return store.sweep({ name, token: token ?? 0, limit })
}

export function supervisionSuite(bench: Bench): void {
  describe('a node', () => {
    it('lives while it beats, and once declared dead stays so', async () => {
      const { store, clock } = bench
      const node = { id: 'a', roles: ['scheduler', 'agent'], lease: 100 }
      expect(await store.heartbeat(node)).toBe(true)
      const startedAt = clock.now()
      clock.advance(60)
      expect(await store.heartbeat(node)).toBe(true)
      expect(await store.nodes()).toEqual([
        { id: 'a', roles: node.roles, startedAt, leaseUntil: startedAt + 160, runs: null, place: null },
      ])
      clock.advance(60)
      expect(await sweep(store)).toEqual(nothing)
      clock.advance(41)
      expect(await sweep(store)).toEqual({ ...nothing, deadNodes: ['a'] })
      expect(await store.nodes()).toEqual([])
      expect(await store.heartbeat(node)).toBe(false)
      expect(await store.heartbeat({ ...node, id: 'a2' })).toBe(true)
      // So that it hears of it, however late; not for ever.
      clock.advance(86_400_000)
      await sweep(store)
      expect(await store.heartbeat(node)).toBe(true)
    })

    it('that dies loses its tasks and its work to others', async () => {
      const { store, clock } = bench
      await store.heartbeat({ id: 'a', roles: [], lease: 100 })
      await store.heartbeat({ id: 'b', roles: [], lease: 1_000 })
      const t = await owned(store)
      await store.commit([
        transition(t, { work: [workRequest('t', 1, { completeWithin: 5_000 }), workRequest('t', 2)] }),
      ])
      const [item] = await store.takeWork({ node: 'a', agents: [pay] })
      clock.advance(101)
      expect(await sweep(store)).toEqual({ ...nothing, deadNodes: ['a'], releasedTasks: 1, expiredSteps: 1 })
      expect(await store.commit([transition(t, { seq: 3 })])).toEqual([{ ok: false, reason: 'fenced' }])
      expect(await store.reply([{ work: item?.id ?? 0, node: 'a', message: replyTo(1) }])).toEqual([false])
      expect(await store.inbox('a', 10)).toEqual([])
      const outcome = { kind: 'failed', unknown: true, retryable: true, error: { code: 'STEP_LOST' } }
      expect(await claimAll(store, 'b')).toMatchObject([
        { id: 't', epoch: 2, orphaned: true, letters: [{ message: { step: 1, outcome } }], work: [{ step: 2 }] },
      ])
    })

    it('that did not hear which tasks it claimed gets them back, and keeps those it knows of', async () => {
      const { store } = bench
      const known = await owned(store, 'known')
      await store.submit([newTask('unheard')])
      await claimAll(store)
      await store.post([{ task: 'unheard', message: { type: 'tick' }, control: false }])
      expect(await claimAll(store)).toEqual([])
      await store.claim({ node: 'a', runnable: [], limit: 10, held: ['known'] })
      expect(await store.inbox('a', 10)).toEqual([])
      const again = await store.claim({ node: 'a', runnable: [flow], limit: 10, held: ['known'] })
      expect(again).toMatchObject([{ id: 'unheard', epoch: 2, orphaned: true }])
      expect(await store.commit([transition(known)])).toMatchObject([{ ok: true }])
    })

    it('that takes tasks after its death keeps them no longer than a sweep', async () => {
      const { store, clock } = bench
      await store.heartbeat({ id: 'a', roles: [], lease: 100 })
      clock.advance(101)
      await sweep(store)
      await owned(store)
      expect(await sweep(store)).toEqual({ ...nothing, releasedTasks: 1 })
      expect(await store.task('t')).toMatchObject({ lockedBy: null })
    })

    it('that leaves hands everything over at once', async () => {
      const { store } = bench
      await store.heartbeat({ id: 'a', roles: [], lease: 100 })
      await store.lead({ name, node: 'a', ttl: 1_000 })
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1)] })])
      await store.takeWork({ node: 'a', agents: [pay] })
      await store.post([{ task: 't', message: { type: 'tick' }, control: false }])
      await store.leave('a')
      expect(await store.inbox('a', 10)).toEqual([])
      expect(await store.nodes()).toEqual([])
      expect(await store.lead({ name, node: 'b', ttl: 1_000 })).toBe(2)
      expect(await claimAll(store, 'b')).toMatchObject([
        { id: 't', epoch: 2, orphaned: true, letters: [{}, {}], work: [] },
      ])
    })

    it('that dies with more than one sweep takes is swept in portions', async () => {
      const { store, clock } = bench
      await store.heartbeat({ id: 'a', roles: [], lease: 100 })
      await store.submit(Array.from({ length: 25 }, (_, i) => newTask(`t${i}`)))
      expect(await claimAll(store)).toHaveLength(25)
      clock.advance(101)
      const reports = [await sweep(store, 10), await sweep(store, 10), await sweep(store, 10)]
      expect(reports.map((it) => [it?.releasedTasks, it?.more])).toEqual([
        [10, true],
        [10, true],
        [5, false],
      ])
      expect(await claimAll(store, 'b')).toHaveLength(25)
    })
  })

  describe('a node whose supervisor watches its beats', () => {
    const day = 86_400_000
    const node = { id: 'a', roles: ['agent'], lease: 100 }
    async function watched(store: StateStore, silent: { id: string; mark: string }[], shift = 0) {
      const token = await store.lead({ name, node: 'leader', ttl: 1_000 * day })
      return store.sweep({ name, token: token ?? 0, limit: 100, silent, shift })
    }

    it('shows another mark after each beat, and no other change', async () => {
      const { store, clock } = bench
      const marks = async () => (await store.heartbeats(name)).nodes.map(({ mark }) => mark)
      await store.heartbeat(node)
      expect(await store.heartbeats(name)).toEqual({
        now: clock.now(),
        nodes: [{ id: 'a', mark: expect.any(String), lease: 100, roles: ['agent'], late: false }],
        term: null,
      })
      const [first] = await marks()
      clock.advance(day)
      expect(await marks()).toEqual([first])
      await store.heartbeat(node)
      expect(await marks()).not.toEqual([first])
    })

    it('lives however far the clock leaps, as long as nobody found it silent', async () => {
      const { store, clock } = bench
      await store.heartbeat(node)
      const t = await owned(store)
      clock.advance(day / 2)
      expect(await watched(store, [])).toEqual(nothing)
      expect(await store.nodes()).toMatchObject([{ id: 'a' }])
      expect(await store.heartbeat(node)).toBe(true)
      expect(await store.commit([transition(t)])).toMatchObject([{ ok: true }])
    })

    it('is dead once it was found silent, though the clock was set back', async () => {
      const { store } = bench
      await store.heartbeat(node)
      await owned(store)
      const { nodes } = await store.heartbeats(name)
      expect(await watched(store, [...nodes])).toEqual({ ...nothing, deadNodes: ['a'], releasedTasks: 1 })
      expect(await store.heartbeat(node)).toBe(false)
    })

    it('that beat since it was found silent lives', async () => {
      const { store } = bench
      await store.heartbeat(node)
      const { nodes } = await store.heartbeats(name)
      await store.heartbeat(node)
      expect(await watched(store, [...nodes])).toEqual(nothing)
      expect(await store.heartbeat(node)).toBe(true)
    })

    it('whose process is known to be no more is dead at once, and leads no longer', async () => {
      const { store } = bench
      await store.heartbeat(node)
      await store.lead({ name, node: 'a', ttl: day })
      await owned(store)
      expect(await store.declareDead(['a', 'nobody'])).toBe(1)
      expect(await store.declareDead(['a'])).toBe(0)
      expect(await store.heartbeat(node)).toBe(false)
      expect(await watched(store, [])).toEqual({ ...nothing, releasedTasks: 1 })
    })

    it('has for its attempts the time that a leap of the clock took from them', async () => {
      const { store, clock } = bench
      await store.heartbeat({ id: 'a', roles: [], lease: day })
      const t = await owned(store)
      const bounds = { completeWithin: 100, heartbeatWithin: 100 }
      await store.commit([transition(t, { work: [workRequest('t', 1, bounds)] })])
      await store.takeWork({ node: 'a', agents: [pay] })
      clock.advance(3_600_000 + 10)
      expect(await watched(store, [], 3_600_000)).toEqual(nothing)
      clock.advance(89)
      expect(await watched(store, [])).toEqual(nothing)
      clock.advance(1)
      expect(await watched(store, [])).toEqual({ ...nothing, expiredSteps: 1 })
    })
  })

  describe('a sweep', () => {
    it('gives up attempts past their complete-by, whose replies then are late', async () => {
      const { store, clock } = bench
      await store.heartbeat({ id: 'a', roles: [], lease: 100_000 })
      await store.heartbeat({ id: 'agent', roles: [], lease: 100_000 })
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1, { completeWithin: 100 })] })])
      const [item] = await store.takeWork({ node: 'agent', agents: [pay] })
      clock.advance(99)
      expect(await sweep(store)).toEqual(nothing)
      clock.advance(1)
      expect(await sweep(store)).toEqual({ ...nothing, expiredSteps: 1 })
      expect(await store.reply([{ work: item?.id ?? 0, node: 'agent', message: replyTo(1) }])).toEqual([false])
      const outcome = { kind: 'failed', retryable: true, unknown: true, error: { code: 'STEP_TIMEOUT' } }
      expect(await store.inbox('a', 10)).toMatchObject([{ message: { step: 1, node: 'agent', outcome } }])
    })

    it('gives up attempts without a heartbeat', async () => {
      const { store, clock } = bench
      await store.heartbeat({ id: 'a', roles: [], lease: 100_000 })
      await store.heartbeat({ id: 'agent', roles: [], lease: 100_000 })
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1, { heartbeatWithin: 100 })] })])
      const [item] = await store.takeWork({ node: 'agent', agents: [pay] })
      clock.advance(60)
      await store.heartbeatWork([{ work: item?.id ?? 0, node: 'agent', message: null }])
      clock.advance(60)
      expect(await sweep(store)).toEqual(nothing)
      clock.advance(40)
      expect(await sweep(store)).toEqual({ ...nothing, expiredSteps: 1 })
      const outcome = { unknown: true, error: { code: 'HEARTBEAT_MISSED' } }
      expect(await store.inbox('a', 10)).toMatchObject([{ message: { step: 1, outcome } }])
    })

    it('judges by an instant before it began, where it may have waited for a lock since: nobody could say meanwhile that an attempt goes on', async () => {
      const { store, clock } = bench
      for (const id of ['a', 'agent']) await store.heartbeat({ id, roles: [], lease: 100_000 })
      const t = await owned(store)
      await store.commit([transition(t, { work: [workRequest('t', 1, { heartbeatWithin: 100 })] })])
      await store.takeWork({ node: 'agent', agents: [pay] })
      clock.advance(90)
      const until = clock.now()
      clock.advance(50)
      const token = (await store.lead({ name, node: 'leader', ttl: 1_000_000 })) ?? 0
      expect(await store.sweep({ name, token, limit: 100, silent: [], until })).toEqual(nothing)
      expect(await store.sweep({ name, token, limit: 100, silent: [] })).toEqual({ ...nothing, expiredSteps: 1 })
    })

    it('gives up requests that no agent took in time: those surely did nothing', async () => {
      const { store, clock } = bench
      const t = await owned(store)
      await store.heartbeat({ id: 'a', roles: [], lease: 100_000 })
      await store.commit([transition(t, { work: [workRequest('t', 1, { expiresAt: clock.now() + 50 })] })])
      clock.advance(50)
      expect(await store.takeWork({ node: 'agent', agents: [pay] })).toEqual([])
      expect(await sweep(store)).toEqual({ ...nothing, expiredSteps: 1 })
      const [letter] = await store.inbox('a', 10)
      expect(letter).toMatchObject({
        message: { step: 1, outcome: { kind: 'failed', error: { code: 'STEP_TIMEOUT' } } },
      })
      expect(letter?.message).not.toHaveProperty('outcome.unknown')
    })

    it('makes unowned tasks past their deadline claimable for any scheduler, once', async () => {
      const { store, clock } = bench
      const deadline = clock.now() + 100
      await store.heartbeat({ id: 'a', roles: [], lease: 100_000 })
      const t = await owned(store)
      await store.commit([transition(t, { snapshot: snapshot({ deadline }) })])
      await store.submit([newTask('x', { version: '0', deadline })])
      clock.advance(99)
      expect(await sweep(store)).toEqual(nothing)
      clock.advance(1)
      expect(await sweep(store)).toEqual({ ...nothing, overdueTasks: 1 })
      expect(await sweep(store)).toEqual(nothing)
      await store.commit([transition(t, { seq: 3, release: released })])
      expect(await sweep(store)).toEqual({ ...nothing, overdueTasks: 1 })
      const ids = (await store.claim({ node: 'b', runnable: [], limit: 10 })).map(({ id }) => id)
      expect(ids.sort()).toEqual(['t', 'x'])
    })
  })

  describe('leadership', () => {
    it('belongs to one node at a time, under tokens that strictly rise', async () => {
      const { store, clock } = bench
      const lead = (node: string) => store.lead({ name, node, ttl: 100 })
      const first = await lead('a')
      expect(await lead('b')).toBeNull()
      clock.advance(60)
      expect(await lead('a')).toBe(first)
      clock.advance(60)
      expect(await lead('b')).toBeNull()
      clock.advance(40)
      const second = await lead('b')
      expect(second).toBeGreaterThan(first ?? Infinity)
      clock.advance(100)
      expect(await lead('b')).toBeGreaterThan(second ?? Infinity)
      expect(await store.lead({ name: 'another', node: 'a', ttl: 100 })).not.toBeNull()
    })

    it('is seen by those who look at the beats: whose it is, and for how long', async () => {
      const { store, clock } = bench
      await store.heartbeat({ id: 'a', roles: ['supervisor'], lease: 80 })
      await store.lead({ name: 'another', node: 'b', ttl: 100 })
      expect(await store.heartbeats(name)).toMatchObject({ term: null, nodes: [{ id: 'a', late: false }] })
      await store.lead({ name, node: 'a', ttl: 100 })
      clock.advance(79)
      expect(await store.heartbeats(name)).toMatchObject({ term: { holder: 'a', left: 21 }, nodes: [{ late: false }] })
      clock.advance(1)
      expect(await store.heartbeats(name)).toMatchObject({ term: { holder: 'a', left: 20 }, nodes: [{ late: true }] })
      clock.advance(20)
      expect(await store.heartbeats(name)).toMatchObject({ term: null, nodes: [{ late: true }] })
      await store.lead({ name, node: 'b', ttl: 100 })
      expect((await store.heartbeats(name)).term).toEqual({ holder: 'b', left: 100 })
      await store.leave('b')
      expect((await store.heartbeats(name)).term).toBeNull()
    })

    it('begun by a clock that was ahead lasts no longer than any', async () => {
      const { store, clock } = bench
      clock.advance(3_600_000)
      await store.lead({ name, node: 'a', ttl: 100 })
      clock.set(-3_600_000)
      expect(await store.lead({ name, node: 'b', ttl: 100 })).toBeNull()
      clock.advance(99)
      expect(await store.lead({ name, node: 'b', ttl: 100 })).toBeNull()
      clock.advance(1)
      expect(await store.lead({ name, node: 'b', ttl: 100 })).not.toBeNull()
    })

    it('that has passed on or lapsed sweeps nothing', async () => {
      const { store, clock } = bench
      await store.heartbeat({ id: 'dying', roles: [], lease: 50 })
      const stale = (await store.lead({ name, node: 'a', ttl: 100 })) ?? 0
      clock.advance(100)
      expect(await store.sweep({ name, token: stale, limit: 10 })).toBeNull()
      const fresh = (await store.lead({ name, node: 'b', ttl: 100 })) ?? 0
      expect(await store.sweep({ name, token: stale, limit: 10 })).toBeNull()
      expect(await store.nodes()).toHaveLength(1)
      expect(await store.sweep({ name, token: fresh, limit: 10 })).toMatchObject({ deadNodes: ['dying'] })
    })
  })
}
