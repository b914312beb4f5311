import { beforeEach, describe, expect, it } from 'vitest'
import { isBlocked } from '../../src/store/blocked.ts'
import type { LockRequest, NewTask, StateStore } from '../../src/store/port.ts'
import { advancing } from './clock.ts'
import type { Bench } from './conformance.ts'
import { idsOf } from './listing.ts'
import { claimAll, creation, newTask, owned, released, snapshot, stopped, transition, workRequest } from './samples.ts'

const lock = (name: string, change: Partial<LockRequest> = {}): LockRequest => ({
  step: 0,
  name,
  ifHeld: 'queue',
  ...change,
})
const wanting = (id: string, locks: LockRequest[], change: Partial<NewTask> = {}) =>
  newTask(id, { ...change, gates: { locks, after: [] } })
const after = (id: string, ...antecedents: string[]) => newTask(id, { gates: { locks: [], after: antecedents } })
const asks = (...locks: LockRequest[]) => ({ locks, unlocks: [] })
const gives = (...unlocks: number[]) => ({ locks: [], unlocks })

/** Submits again as long as somebody holds what it needs: that is an answer, and on a busy machine the right one. */
async function patiently(store: StateStore, task: NewTask): ReturnType<StateStore['submit']> {
  for (;;) {
    try {
      return await store.submit([task])
    } catch (error) {
      if (!isBlocked(error)) throw error
    }
  }
}

async function messages(store: StateStore, node = 'a'): Promise<unknown[]> {
  return (await store.inbox(node, 100)).map(({ message }) => message)
}

async function line(store: StateStore, name: string): Promise<string[]> {
  return (await store.locks({ name })).map(({ task, held, ahead }) => `${task}${held ? ' held' : ` ${ahead}`}`)
}

export function gateSuite(bench: Bench): void {
  describe('a claim on a name', () => {
    it('is not needed to wait for people: a planned task is nobody’s until a letter comes', async () => {
      const { store } = bench
      await store.submit([newTask('t', { status: 'planned', gates: { locks: [], after: [] } })])
      expect(await claimAll(store)).toEqual([])
      await store.post([{ task: 't', message: { type: 'thaw' }, control: true }])
      expect(await claimAll(store)).toMatchObject([{ id: 't', letters: [{ message: { type: 'thaw' } }] }])
    })

    it('is granted by a letter, and makes its task ready', async () => {
      const { store } = bench
      expect(await store.submit([wanting('t', [lock('x')])])).toMatchObject([{ created: true }])
      const [claim] = await claimAll(store)
      expect(claim?.letters).toMatchObject([{ message: { type: 'lock', step: 0, name: 'x', outcome: 'granted' } }])
      expect(await store.locks({ task: 't' })).toMatchObject([{ name: 'x', task: 't', step: 0, held: true, ahead: 0 }])
    })

    it('waits in line, by priority and then in the order of asking, until the holder stops', async () => {
      const { store } = bench
      await store.submit([wanting('a', [lock('x')])])
      const [claim] = await claimAll(store)
      await store.submit([
        wanting('b', [lock('x')]),
        wanting('c', [lock('x')], { priority: 1 }),
        wanting('d', [lock('x')]),
      ])
      expect(await claimAll(store)).toEqual([])
      expect(await line(store, 'x')).toEqual(['a held', 'c 1', 'b 2', 'd 3'])
      if (!claim) throw new Error('nothing was claimed')
      const [outcome] = await store.commit([
        transition(claim, { snapshot: stopped, release: released, consumed: claim.letters.map(({ id }) => id) }),
      ])
      expect(outcome).toMatchObject({ ok: true, told: true })
      expect(await claimAll(store)).toMatchObject([{ id: 'c', letters: [{ message: { outcome: 'granted' } }] }])
      expect(await line(store, 'x')).toEqual(['c held', 'b 1', 'd 2'])
    })

    it('is refused where it was not to wait, and its task never was', async () => {
      const { store } = bench
      await store.submit([wanting('a', [lock('x')])])
      const request = wanting('b', [lock('x', { ifHeld: 'reject' })], { tags: { k: 'v' } })
      expect(await store.submit([request])).toMatchObject([{ created: false, heldBy: 'a' }])
      expect(await store.task('b')).toBeNull()
      expect(await store.records('b', 0, 10)).toEqual([])
      expect(await idsOf(store, { tags: { k: 'v' } })).toEqual([])
      expect(await store.submit([wanting('a', [lock('x', { ifHeld: 'reject' })])])).toMatchObject([{ created: false }])
    })

    it('asks the holder to go, and who waits to replace it', async () => {
      const { store } = bench
      await store.submit([wanting('a', [lock('x')])])
      await claimAll(store)
      const replace = [lock('x', { ifHeld: 'replace' as const })]
      await store.submit([wanting('b', [lock('x')]), ...['c', 'd', 'e'].map((id) => wanting(id, replace))])
      expect((await messages(store)).filter((it) => (it as { type: string }).type === 'cancel')).toHaveLength(3)
      // Any scheduler can cancel what never began, and each is told once.
      const told = (await claimAll(store, 'a', [])).map(({ id, letters }) => [
        id,
        letters.map(({ message }) => message.type),
      ])
      expect(told).toEqual(['c', 'd'].map((id) => [id, ['cancel']]))
    })

    it('is made by a running task, whose letter reaches it, and given back', async () => {
      const { store } = bench
      const [a, b] = [await owned(store, 'a'), await owned(store, 'b')]
      await store.commit([
        transition(a, { gates: asks(lock('x', { step: 4 })) }),
        transition(b, { gates: asks(lock('x', { step: 7 })) }),
      ])
      expect(await messages(store)).toMatchObject([{ type: 'lock', step: 4, name: 'x', outcome: 'granted' }])
      expect(await store.commit([transition(a, { seq: 3, gates: gives(4) })])).toMatchObject([{ told: true }])
      expect(await messages(store)).toMatchObject([
        { step: 4, outcome: 'granted' },
        { type: 'lock', step: 7, name: 'x', outcome: 'granted' },
      ])
      // Given back twice, or never had: nothing.
      expect(await store.commit([transition(a, { seq: 4, gates: gives(4, 5) })])).toMatchObject([{ ok: true }])
      expect(await line(store, 'x')).toEqual(['b held'])
    })

    it('leaves the line when it is given back before its turn, and is last when it is made again', async () => {
      const { store } = bench
      const [a, b, c] = [await owned(store, 'a'), await owned(store, 'b'), await owned(store, 'c')]
      await store.commit([transition(a, { gates: asks(lock('x', { step: 1 })) })])
      await store.commit([transition(b, { gates: asks(lock('x', { step: 1 })) })])
      await store.commit([transition(c, { gates: asks(lock('x', { step: 1 })) })])
      await store.commit([transition(b, { seq: 3, gates: gives(1) })])
      expect(await line(store, 'x')).toEqual(['a held', 'c 1'])
      await store.commit([transition(b, { seq: 4, gates: asks(lock('x', { step: 2 })) })])
      expect(await line(store, 'x')).toEqual(['a held', 'c 1', 'b 2'])
      await store.commit([transition(a, { seq: 3, gates: gives(1) })])
      expect(await line(store, 'x')).toEqual(['c held', 'b 1'])
    })

    it('is the same when it is made again', async () => {
      const { store } = bench
      const a = await owned(store, 'a')
      await store.commit([transition(a, { gates: asks(lock('x', { step: 1 })) })])
      await store.commit([transition(a, { seq: 3, gates: asks(lock('x', { step: 1 })) })])
      expect(await messages(store)).toHaveLength(1)
    })

    it('is refused when it would close a circle, through lines too', async () => {
      const { store } = bench
      const [a, b, c] = [
        await owned(store, 'a'),
        await owned(store, 'b'),
        await owned(store, 'c', 'a', { priority: 5 }),
      ]
      const one = async (claim: typeof a, seq: number, name: string, step: number) =>
        store.commit([transition(claim, { seq, gates: asks(lock(name, { step })) })])
      await one(a, 2, 'x', 1)
      await one(b, 2, 'y', 1)
      await one(a, 3, 'y', 2)
      await one(b, 3, 'x', 2)
      const refused = async () =>
        (await messages(store)).filter((it) => (it as { outcome: string }).outcome === 'deadlock')
      expect(await refused()).toEqual([{ type: 'lock', step: 2, name: 'x', outcome: 'deadlock', by: ['a'] }])
      expect(await line(store, 'x')).toEqual(['a held'])
      // c would be before a in the line for y, and a holds what c has asked for already.
      await one(c, 2, 'x', 1)
      await one(c, 3, 'y', 2)
      expect((await refused()).slice(1)).toMatchObject([{ step: 2, name: 'y', by: ['b'] }])
      // The same lock twice is a circle of one.
      await one(a, 4, 'x', 3)
      expect((await refused()).slice(2)).toMatchObject([{ step: 3, name: 'x', by: ['a', 'c'] }])
    })

    it('changes nothing when its transition is fenced', async () => {
      const { store } = bench
      const a = await owned(store, 'a')
      const stale = { ...a, epoch: a.epoch + 1 }
      expect(await store.commit([transition(stale, { gates: asks(lock('x', { step: 1 })) })])).toMatchObject([
        { ok: false },
      ])
      expect(await store.locks({ name: 'x' })).toEqual([])
    })

    it('of a child waits, or is refused to the parent', async () => {
      const { store } = bench
      await store.submit([wanting('a', [lock('x')])])
      const parent = await owned(store, 'p')
      const child = (id: string, step: number, ifHeld: LockRequest['ifHeld']) =>
        wanting(id, [lock('x', { ifHeld })], { parent: 'p', parentStep: step })
      await store.commit([transition(parent, { children: [child('c1', 1, 'queue'), child('c2', 2, 'reject')] })])
      expect(await line(store, 'x')).toEqual(['a held', 'c1 1'])
      expect(await store.task('c2')).toBeNull()
      const letters = await messages(store)
      expect(letters.filter((it) => (it as { type: string }).type === 'child')).toMatchObject([
        { type: 'child', step: 2, result: 'error', refused: { code: 'LOCK_HELD' } },
      ])
    })

    it('is not made by a transition that stops its task, nor by a task that has stopped', async () => {
      const { store } = bench
      const [a, b] = [await owned(store, 'a'), await owned(store, 'b')]
      const wants = asks(lock('x', { step: 1 }))
      await store.commit([transition(a, { snapshot: stopped, gates: wants }), transition(b, { gates: wants })])
      await store.commit([transition(a, { seq: 3, gates: asks(lock('x', { step: 2 }), lock('y', { step: 3 })) })])
      expect(await line(store, 'x')).toEqual(['b held'])
      expect(await line(store, 'y')).toEqual([])
      // One that was made and stopped in one write.
      await store.commit([creation(newTask('c'), { snapshot: stopped, gates: asks(lock('z', { step: 1 })) })])
      expect(await store.locks({ name: 'z' })).toEqual([])
    })

    it('has a number that rises with each grant, whatever was in between', async () => {
      const { store } = bench
      const [a, b] = [await owned(store, 'a'), await owned(store, 'b')]
      const x = lock('x', { step: 1 })
      await store.commit([transition(a, { gates: asks(x) }), transition(b, { gates: asks(x) })])
      await store.commit([transition(a, { seq: 3, gates: gives(1) })])
      await store.commit([transition(b, { seq: 3, gates: gives(1) })])
      expect(await line(store, 'x')).toEqual([])
      await store.commit([transition(a, { seq: 4, gates: asks(x) })])
      const fences = (await messages(store)).map((it) => (it as { fence: number }).fence)
      expect(fences).toHaveLength(3)
      expect(new Set(fences).size).toBe(3)
      expect([...fences].sort((x, y) => x - y)).toEqual(fences)
      expect(fences[0]).toBeGreaterThan(0)
    })

    it('is refused to a child of who has it and waits for the child, through lines and generations too', async () => {
      const { store } = bench
      const [p, c, d, e] = [
        await owned(store, 'p'),
        await owned(store, 'c'),
        await owned(store, 'd'),
        await owned(store, 'e'),
      ]
      const one = async (claim: typeof p, seq: number, name: string, step: number, parents?: string[]) =>
        store.commit([transition(claim, { seq, gates: asks(lock(name, { step, ...(parents && { parents }) })) })])
      const refused = async () =>
        (await messages(store)).filter((it) => (it as { outcome: string }).outcome === 'deadlock')
      await one(p, 2, 'x', 1)
      await one(c, 2, 'x', 1, ['p'])
      expect(await refused()).toEqual([
        { type: 'lock', step: 1, name: 'x', outcome: 'deadlock', by: ['p'], parent: 'p' },
      ])
      expect(await line(store, 'x')).toEqual(['p held'])
      // d waits for what p has; p waits for c.
      await one(d, 2, 'y', 1)
      await one(d, 3, 'x', 2)
      await one(c, 3, 'y', 2, ['p'])
      expect((await refused()).slice(1)).toEqual([
        { type: 'lock', step: 2, name: 'y', outcome: 'deadlock', by: ['d'], parent: 'p' },
      ])
      // A grandchild; one whom nobody waits for may wait.
      await one(e, 2, 'x', 1, ['c', 'p'])
      expect((await refused()).slice(2)).toMatchObject([{ name: 'x', by: ['d', 'p'], parent: 'p' }])
      await one(e, 3, 'x', 2)
      expect(await refused()).toHaveLength(3)
      expect(await line(store, 'x')).toEqual(['p held', 'd 1', 'e 2'])
    })

    it('is refused to who would wait for the parent of one that waits for him', async () => {
      const { store } = bench
      const [p, c, d] = [await owned(store, 'p'), await owned(store, 'c'), await owned(store, 'd')]
      await store.commit([
        transition(p, { gates: asks(lock('x', { step: 1 })) }),
        transition(d, { gates: asks(lock('y', { step: 1 })) }),
      ])
      // p has x and waits for its child, which waits for what d has.
      await store.commit([transition(c, { gates: asks(lock('y', { step: 1, parents: ['p'] })) })])
      await store.commit([transition(d, { seq: 3, gates: asks(lock('x', { step: 2 })) })])
      const told = (await messages(store)).filter((it) => (it as { outcome: string }).outcome === 'deadlock')
      expect(told).toEqual([{ type: 'lock', step: 2, name: 'x', outcome: 'deadlock', by: ['p'] }])
      // Once the child has it, nobody waits for d any more.
      await store.commit([transition(d, { seq: 4, gates: gives(1) })])
      await store.commit([transition(d, { seq: 5, gates: asks(lock('x', { step: 3 })) })])
      expect(await line(store, 'x')).toEqual(['p held', 'd 1'])
    })

    describe('that a fault left', () => {
      let worker: Awaited<ReturnType<typeof owned>>
      let [a, b, c]: (typeof worker)[] = []
      let writes = 0
      let step = 0
      beforeEach(async () => {
        worker = await owned(bench.store, 'w')
        a = await owned(bench.store, 'a')
        b = await owned(bench.store, 'b')
        c = await owned(bench.store, 'c')
      })
      /** Makes a claim another task's, behind the store's back. */
      const change = (name: string, from: number, to: number) => {
        const effect = { key: worker.key, node: 'a', epoch: worker.epoch, step: 1, firstStep: 1, name: `${++writes}` }
        const bounds = { within: 60_000, isolation: 'read committed', signal: new AbortController().signal } as const
        const text = `UPDATE ${bench.subject.table('locks')} SET task = ${to} WHERE name = '${name}' AND task = ${from}`
        return bench.store.transact(effect, bounds, async (tx) => {
          await bench.subject.sql(tx, text)
          return '1'
        })
      }
      const wants = async (claim: typeof worker, seq: number, ...names: string[]) =>
        bench.store.commit([
          transition(claim, { seq, gates: asks(...names.map((name) => lock(name, { step: ++step }))) }),
        ])
      const sweep = async () => {
        await bench.store.heartbeat({ id: 'a', roles: [], lease: 1_000_000 })
        const token = (await bench.store.lead({ name: 'supervisor', node: 'n', ttl: 1_000 })) ?? 0
        await bench.store.sweep({ name: 'supervisor', token, limit: 100 })
      }

      it('to a task that stopped, or is gone, is whose who asks for it', async () => {
        if (!a || !b || !c) throw new Error('nothing was claimed')
        await wants(a, 2, 'x', 'y')
        await bench.store.commit([transition(c, { snapshot: stopped })])
        await change('x', a.key, c.key)
        await change('y', a.key, 987_654)
        await wants(b, 2, 'x', 'y')
        expect([await line(bench.store, 'x'), await line(bench.store, 'y')]).toEqual([['b held'], ['b held']])
      })

      it('to a task that stopped, or is gone, goes to who waits for it with a sweep', async () => {
        if (!a || !b || !c) throw new Error('nothing was claimed')
        await wants(a, 2, 'x', 'y', 'z')
        await wants(b, 2, 'x', 'y')
        await bench.store.commit([transition(c, { snapshot: stopped })])
        await change('x', a.key, c.key)
        await change('y', a.key, 987_654)
        await sweep()
        expect([await line(bench.store, 'x'), await line(bench.store, 'y')]).toEqual([['b held'], ['b held']])
        expect(await line(bench.store, 'z')).toEqual(['a held'])
        expect(await messages(bench.store)).toHaveLength(5)
      })

      it('to a task that is dropped goes with it', async () => {
        if (!a || !b || !c) throw new Error('nothing was claimed')
        await wants(a, 2, 'x')
        await wants(b, 2, 'x')
        // It had a lock once, in all honour.
        await wants(c, 2, 'y')
        const read = (await bench.store.inbox('a', 100)).filter(({ key }) => key === c?.key).map(({ id }) => id)
        await bench.store.commit([transition(c, { seq: 3, snapshot: stopped, release: released, consumed: read })])
        await change('x', a.key, c.key)
        bench.clock.advance(1_000_000)
        const token = (await bench.store.lead({ name: 'supervisor', node: 'n', ttl: 1_000 })) ?? 0
        const rules = [{ workflow: null, result: 'success' as const, age: 1 }]
        const prune = { name: 'supervisor', token, rules, limit: 10, records: 1_000 }
        expect(await bench.store.prune(prune)).toMatchObject({ dropped: 1 })
        expect(await line(bench.store, 'x')).toEqual(['b held'])
      })

      it('in a circle that two closed at once is found by a sweep, and one of them is refused', async () => {
        if (!a || !b || !c) throw new Error('nothing was claimed')
        await wants(a, 2, 'x')
        await wants(b, 2, 'y')
        await wants(c, 2, 'x')
        await wants(worker, 2, 'y')
        await change('x', c.key, b.key)
        await change('y', worker.key, a.key)
        await sweep()
        await sweep()
        const told = (await messages(bench.store)).filter((it) => (it as { outcome: string }).outcome === 'deadlock')
        expect(told).toHaveLength(1)
        expect([await line(bench.store, 'x'), await line(bench.store, 'y')].flat()).toHaveLength(3)
      })
    })

    it('that is not to wait is refused to a running task, too, and one that would close a circle replaces nobody', async () => {
      const { store } = bench
      const [a, b, c] = [await owned(store, 'a'), await owned(store, 'b'), await owned(store, 'c')]
      await store.commit([
        transition(a, { gates: asks(lock('x', { step: 1 })) }),
        transition(b, { gates: asks(lock('y', { step: 1 })) }),
        transition(c, { gates: asks(lock('x', { step: 1, ifHeld: 'reject' })) }),
      ])
      await store.commit([transition(a, { seq: 3, gates: asks(lock('y', { step: 2 })) })])
      await store.commit([transition(b, { seq: 3, gates: asks(lock('x', { step: 2, ifHeld: 'replace' })) })])
      const outcomes = (await messages(store)).map((it) => (it as { outcome?: string }).outcome)
      expect(outcomes).toEqual(['granted', 'granted', 'held', 'deadlock'])
      expect(await line(store, 'x')).toEqual(['a held'])
      // Nobody waits for c, nor comes after it.
      const [ended] = await store.commit([transition(c, { seq: 3, snapshot: stopped, release: released })])
      expect(ended).toEqual({ ok: true, key: c.key })
    })

    it.each([
      ['its child', ['p', 'c']],
      ['it', ['c', 'p']],
    ])('is refused to who would wait in a line behind a parent, and last asked %s', async (_, order) => {
      const { store } = bench
      const [a, q, p, c] = [
        await owned(store, 'a'),
        await owned(store, 'q'),
        await owned(store, 'p'),
        await owned(store, 'c'),
      ]
      await store.commit([
        transition(a, { gates: asks(lock('x', { step: 1 })) }),
        transition(q, { gates: asks(lock('y', { step: 1 })) }),
      ])
      // The parent waits for what a has, and for its child, which waits for what q has.
      const asked = { p: asks(lock('x', { step: 1 })), c: asks(lock('y', { step: 1, parents: ['p'] })) }
      for (const id of order as ('p' | 'c')[]) {
        await store.commit([transition(id === 'p' ? p : c, { gates: asked[id] })])
      }
      await store.commit([transition(q, { seq: 3, gates: asks(lock('x', { step: 2 })) })])
      const told = (await messages(store)).filter((it) => (it as { outcome: string }).outcome === 'deadlock')
      expect(told).toEqual([{ type: 'lock', step: 2, name: 'x', outcome: 'deadlock', by: ['a', 'p'] }])
      expect(await line(store, 'x')).toEqual(['a held', 'p 1'])
    })

    it('is free when a task stops that had begun and stopped in one write', async () => {
      const { store } = bench
      await store.submit([wanting('a', [lock('x')]), wanting('b', [lock('x')])])
      const [a] = await claimAll(store)
      if (!a) throw new Error('nothing was claimed')
      const cancelled = snapshot({ status: 'stopped', result: 'cancelled' })
      await store.commit([transition(a, { snapshot: cancelled, release: released })])
      expect(await line(store, 'x')).toEqual(['b held'])
    })
  })

  describe('the lines', () => {
    it('of locks are told by name, a page at a time: who has each, how many wait, and who is first', async () => {
      const { store } = bench
      await store.submit([
        wanting('a', [lock('x')]),
        wanting('b', [lock('y')]),
        wanting('c', [lock('z'), lock('x', { step: 1 })]),
      ])
      bench.clock.advance(5)
      const waiting = Array.from({ length: 7 }, (_, i) => wanting(`w${i}`, [lock('y')], { priority: i === 6 ? 1 : 0 }))
      await store.submit(waiting)
      const all = await store.heldLocks({ after: '', limit: 10 })
      expect(all.map(({ name, task, waiting }) => [name, task, waiting])).toEqual([
        ['x', 'a', 1],
        ['y', 'b', 7],
        ['z', 'c', 0],
      ])
      expect(all[1]?.next.map(({ task }) => task)).toEqual(['w6', 'w0', 'w1', 'w2', 'w3'])
      expect(new Set(all.map(({ fence }) => fence)).size).toBe(3)
      expect((await store.heldLocks({ after: 'x', limit: 1 })).map(({ name }) => name)).toEqual(['y'])
      expect(await store.heldLocks({ after: 'z', limit: 1 })).toEqual([])
    })

    it('of agents are told by name, with the oldest request that nobody has taken', async () => {
      const { store } = bench
      const [a, b] = [await owned(store, 'a'), await owned(store, 'b')]
      const ship = { agent: 'ship', action: 'ship.send' }
      await store.commit([
        transition(a, { work: [workRequest('a', 1), workRequest('a', 2, { priority: 5 }), workRequest('a', 3, ship)] }),
      ])
      await store.commit([transition(b, { work: [workRequest('b', 1, { priority: 9 })] })])
      const rows = [
        { agent: 'pay', depth: 3, oldest: { task: 'a', step: 1 } },
        { agent: 'ship', depth: 1, oldest: { task: 'a', step: 3 } },
      ]
      expect(await store.queues({ after: '', limit: 10 })).toEqual(rows)
      expect(await store.queues({ after: '', limit: 1 })).toEqual(rows.slice(0, 1))
      expect(await store.queues({ after: 'pay', limit: 1 })).toEqual(rows.slice(1))
      await store.takeWork({ node: 'n', agents: [{ agent: 'ship', actions: ['ship.send'], limit: 1 }] })
      expect(await store.queues({ after: '', limit: 10 })).toEqual(rows.slice(0, 1))
    })
  })

  describe('ready tasks', () => {
    it('are told by workflow and version, with how long the first of them has waited', async () => {
      const { store } = bench
      expect(await store.backlogs()).toEqual([])
      const [first, second] = [await store.now(), (await store.now()) + 5]
      await store.submit([
        newTask('low', { at: first }),
        newTask('high', { at: second, priority: 9 }),
        newTask('newer', { at: second, version: '2' }),
        newTask('other', { at: second, workflow: 'after' }),
        newTask('later', { at: first, startAt: first + 86_400_000 }),
      ])
      const rows = await store.backlogs()
      expect(rows.map(({ workflow, version, depth }) => [workflow, version, depth])).toEqual([
        ['after', '1', 1],
        ['flow', '1', 2],
        ['flow', '2', 1],
      ])
      expect(rows[1]?.since).toBe((await store.task('low'))?.updatedAt)
      await claimAll(store)
      expect((await store.backlogs()).map(({ workflow, version }) => [workflow, version])).toEqual([
        ['after', '1'],
        ['flow', '2'],
      ])
    })
  })

  describe('a line', () => {
    it('of a workflow counts its ready tasks that nobody has taken, of all versions, and no further than asked', async () => {
      const { store } = bench
      const at = await store.now()
      expect(await store.queueLength({ workflow: 'flow', count: 10 })).toBe(0)
      await store.submit([
        ...[newTask('a', { at }), newTask('b', { at, priority: 9 }), newTask('newer', { at, version: '2' })],
        ...[newTask('other', { at, workflow: 'flow2' }), newTask('later', { at, startAt: at + 86_400_000 })],
      ])
      expect(await store.queueLength({ workflow: 'flow', count: 10 })).toBe(3)
      expect(await store.queueLength({ workflow: 'flow', count: 2 })).toBe(2)
      await claimAll(store)
      expect(await store.queueLength({ workflow: 'flow', count: 10 })).toBe(1)
    })

    it('of an agent counts what nobody has taken of its queue and of those of its keys', async () => {
      const { store } = bench
      const work = ['pay', 'pay', 'pay#a', 'pay#b', 'pay2', 'pa', 'ship'].map((agent, index) =>
        workRequest('a', index + 1, { agent }),
      )
      await store.commit([transition(await owned(store, 'a'), { work })])
      expect(await store.queueLength({ agent: 'pay', count: 10 })).toBe(4)
      expect(await store.queueLength({ agent: 'pay', count: 3 })).toBe(3)
      await store.takeWork({ node: 'n', agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 1 }] })
      expect(await store.queueLength({ agent: 'pay', count: 10 })).toBe(3)
    })
  })

  describe('what is queued', () => {
    it('knows how many are before a task, and before each of its requests', async () => {
      const { store } = bench
      const [a, b] = [await owned(store, 'a'), await owned(store, 'b')]
      await store.commit([
        transition(a, { work: [workRequest('a', 1), workRequest('a', 2, { priority: 5 })] }),
        transition(b, { work: [workRequest('b', 1), workRequest('b', 2, { agent: 'ship', action: 'ship.send' })] }),
      ])
      const ahead = async (id: string) => (await store.queued(id)).work.map(({ step, ahead }) => [step, ahead])
      expect(await ahead('a')).toEqual([
        [1, 1],
        [2, 0],
      ])
      expect(await ahead('b')).toEqual([
        [1, 2],
        [2, 0],
      ])
      await store.takeWork({ node: 'n', agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 1 }] })
      expect((await store.queued('a')).work).toMatchObject([
        { step: 1, operation: 'run', attempt: 1, action: 'pay.charge', node: null, completeBy: null, ahead: 0 },
        { step: 2, node: 'n', completeBy: bench.clock.now() + 1_000, ahead: 0 },
      ])
      await store.submit([newTask('c'), newTask('d', { priority: 1 }), newTask('e', { version: '2' })])
      const lines = await Promise.all(['a', 'c', 'd', 'e', 'none'].map((id) => store.queued(id)))
      expect(lines.map((line) => line.ahead)).toEqual([null, 1, 0, 0, null])
    })

    it('is told of many tasks at once: what their requests wait for, the same said once, of the first twenty of each', async () => {
      const { store } = bench
      const many = Array.from({ length: 20 }, (_, index) => workRequest('a', index + 1))
      const ship = { agent: 'ship#eu', action: 'ship.send' }
      await store.commit([
        transition(await owned(store, 'a'), { work: [...many, workRequest('a', 21, ship)] }),
        transition(await owned(store, 'b'), { work: [workRequest('b', 1, ship), workRequest('b', 2)] }),
        transition(await owned(store, 'c'), { work: [workRequest('c', 1)] }),
      ])
      await store.takeWork({ node: 'n', agents: [{ agent: 'ship#eu', actions: ['ship.send'], limit: 1 }] })
      const charge = { queue: 'pay', action: 'pay.charge' }
      const send = { queue: 'ship#eu', action: 'ship.send' }
      expect(await store.parked(['b', 'a', 'none'])).toEqual([
        { task: 'a', ...charge },
        { task: 'b', ...charge },
        { task: 'b', ...send },
      ])
      expect(await store.parked([])).toEqual([])
    })

    it('is told with what each node can run, and keeps from beginning', async () => {
      const { store } = bench
      const runs = {
        ...{ workflows: ['flow@1'], actions: ['pay.charge'], slots: { pay: 3 }, labels: { zone: 'eu' } },
        pools: { pay: { high: 1, rest: 2, from: 5 } },
        ...{ settings: { limits: 2 }, paused: { pay: { reason: 'ill', setting: 'limits', version: 2 } } },
      }
      await store.heartbeat({ id: 'n', roles: ['agent'], lease: 1_000, runs })
      await store.heartbeat({ id: 'n', roles: ['agent'], lease: 2_000 })
      await store.heartbeat({ id: 'o', roles: [], lease: 2_000 })
      expect((await store.nodes()).map((node) => node.runs)).toEqual([runs, null])
    })
  })

  describe('a task that comes after others', () => {
    it('hears of each when it stops', async () => {
      const { store } = bench
      const [a, b] = [await owned(store, 'a'), await owned(store, 'b')]
      await store.submit([after('t', 'a', 'b')])
      expect(await claimAll(store)).toEqual([])
      await store.commit([transition(a, { snapshot: stopped, release: released })])
      const failed = snapshot({ status: 'stopped', result: 'error' })
      await store.commit([transition(b, { snapshot: failed, release: released })])
      expect((await claimAll(store))[0]?.letters.map(({ message }) => message)).toEqual([
        { type: 'antecedent', task: 'a', result: 'success' },
        { type: 'antecedent', task: 'b', result: 'error' },
      ])
    })

    it('hears of one that stops in the very write that makes it', async () => {
      const { store } = bench
      const [p, a] = [await owned(store, 'p'), await owned(store, 'a')]
      const child = newTask('t', { parent: 'p', gates: { locks: [], after: ['a'] } })
      await store.commit([
        transition(p, { children: [child] }),
        transition(a, { snapshot: stopped, release: released }),
      ])
      expect((await claimAll(store))[0]?.letters.map(({ message }) => message)).toEqual([
        { type: 'antecedent', task: 'a', result: 'success' },
      ])
    })

    it('hears at once of those that have stopped, and of those nobody knows', async () => {
      const { store } = bench
      const a = await owned(store, 'a')
      await store.commit([transition(a, { snapshot: stopped, release: released })])
      await store.submit([after('t', 'a', 'gone')])
      expect((await claimAll(store))[0]?.letters.map(({ message }) => message)).toEqual([
        { type: 'antecedent', task: 'a', result: 'success' },
        { type: 'antecedent', task: 'gone', result: null },
      ])
    })
  })
}

/** The same under concurrency, from two stores. */
export function sharedGateSuite(bench: Bench): void {
  describe('claims from two stores at once', () => {
    it('are granted to one task, and in the end to each', async () => {
      const { store } = bench
      const other = await bench.another()
      const ids = Array.from({ length: 24 }, (_, index) => `t${index}`)
      const submitted = ids.map((id, index) => patiently(index % 2 ? store : other, wanting(id, [lock('x')])))
      await advancing(bench.clock, Promise.all(submitted))
      const served: string[] = []
      for (let round = 0; round < ids.length; round++) {
        const [mine, theirs] = await advancing(
          bench.clock,
          Promise.all([claimAll(store, 'a'), claimAll(other, 'b')] as const),
        )
        const claims = [...mine.map((it) => ({ ...it, node: 'a' })), ...theirs.map((it) => ({ ...it, node: 'b' }))]
        expect(claims).toHaveLength(1)
        const [claim] = claims as [(typeof claims)[0]]
        expect(await store.locks({ task: claim.id })).toMatchObject([{ held: true }])
        served.push(claim.id)
        const at = round % 2 ? store : other
        const consumed = claim.letters.map(({ id }) => id)
        await advancing(bench.clock, at.commit([transition(claim, { snapshot: stopped, release: released, consumed })]))
      }
      expect(new Set(served).size).toBe(ids.length)
      expect(await store.locks({ name: 'x' })).toEqual([])
    })

    it('that are not to wait are granted once', async () => {
      const { store } = bench
      const other = await bench.another()
      const outcomes = await advancing(
        bench.clock,
        Promise.all(
          Array.from({ length: 16 }, (_, index) =>
            patiently(index % 2 ? store : other, wanting(`t${index}`, [lock('x', { ifHeld: 'reject' })])),
          ),
        ),
      )
      expect(outcomes.flat().filter(({ created }) => created)).toHaveLength(1)
      expect(await idsOf(store)).toHaveLength(1)
    })

    it('hold in the caller’s transaction', async () => {
      const { store, subject } = bench
      await subject.transaction(async (transaction) => {
        expect(await store.submitIn(transaction, [wanting('a', [lock('x')])])).toMatchObject([{ created: true }])
      })
      await subject.transaction(async (transaction) => {
        const refused = await store.submitIn(transaction, [wanting('b', [lock('x', { ifHeld: 'reject' })])])
        expect(refused).toMatchObject([{ created: false, heldBy: 'a' }])
        expect(await store.submitIn(transaction, [wanting('c', [lock('x')])])).toMatchObject([{ created: true }])
      })
      expect(await line(store, 'x')).toEqual(['a held', 'c 1'])
      const failure = subject.transaction(async (transaction) => {
        await store.submitIn(transaction, [wanting('d', [lock('y')])])
        throw new Error('the caller changed its mind')
      })
      await expect(failure).rejects.toThrow('changed its mind')
      expect(await store.locks({ name: 'y' })).toEqual([])
    })

    it('never miss the end of the task they come after', async () => {
      const { store } = bench
      const other = await bench.another()
      for (let round = 0; round < 10; round++) {
        const a = await owned(store, `a${round}`)
        await advancing(
          bench.clock,
          Promise.all([
            store.commit([transition(a, { snapshot: stopped, release: released })]),
            other.submit([after(`t${round}`, `a${round}`)]),
          ]),
        )
        expect(await claimAll(store)).toMatchObject([
          { id: `t${round}`, letters: [{ message: { result: 'success' } }] },
        ])
      }
    })
  })
}
