import { describe, expect, it } from 'vitest'
import type { FairShare } from '../../src/kernel/task/order.ts'
import type { NewTask, StateStore, WorkRequest } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { flow, newTask, owned, transition, workRequest } from './samples.ts'

/** Steps of several shares in the queue of one agent. */
class Line {
  readonly #store: StateStore
  readonly #claim: Awaited<ReturnType<typeof owned>>
  #seq = 2
  #step = 1

  private constructor(store: StateStore, claim: Awaited<ReturnType<typeof owned>>) {
    this.#store = store
    this.#claim = claim
  }

  static async on(store: StateStore): Promise<Line> {
    return new Line(store, await owned(store))
  }

  async queue(
    ...shares: (readonly [share: string | FairShare | null, count: number, priority?: number])[]
  ): Promise<void> {
    const work = shares.flatMap(([given, count, priority = 0]) =>
      Array.from({ length: count }, () => this.#request(given, priority)),
    )
    await this.#store.commit([transition(this.#claim, { seq: this.#seq++, work })])
  }

  #request(given: string | FairShare | null, priority: number): WorkRequest {
    const share = typeof given === 'string' ? { key: given, weight: 1 } : given
    const request = workRequest('t', this.#step++, { priority })
    const { key = '' } = share ?? {}
    return { ...request, request: { ...(share && { share }), ...request.request, input: { of: key } } }
  }

  /** Whose these are. */
  async take(limit: number): Promise<string> {
    const node = 'agent'
    const items = await this.#store.takeWork({ node, agents: [{ agent: 'pay', actions: ['pay.charge'], limit }] })
    return items.map(({ request }) => (request.input as { of: string }).of || '-').join('')
  }
}

export function shareSuite(bench: Bench): void {
  describe('a queue that is shared', () => {
    it('gives the slots to each in turn, however many one has put there first', async () => {
      const line = await Line.on(bench.store)
      await line.queue(['a', 50])
      expect(await line.take(3)).toBe('aaa')
      await line.queue(['b', 4], ['c', 2])
      // Whole rounds: which of several in one place is cut off is up to the store.
      expect(await line.take(8)).toBe('abcabcab')
      expect(await line.take(41)).toBe(`ab${'a'.repeat(39)}`)
    })

    it('lets a single request of another wait for one of each that is there before it', async () => {
      const line = await Line.on(bench.store)
      await line.queue(['a', 1_000], ['b', 1_000])
      expect(await line.take(20)).toBe('ab'.repeat(10))
      await line.queue(['c', 1])
      expect(await line.take(3)).toContain('c')
    })

    it('gives more to those of more weight', async () => {
      const line = await Line.on(bench.store)
      await line.queue([{ key: 'a', weight: 3 }, 60], [{ key: 'b', weight: 1 }, 60], [{ key: 'c', weight: 0.5 }, 60])
      const taken = await line.take(45)
      const counts = ['a', 'b', 'c'].map((one) => taken.split(one).length - 1)
      expect(counts).toEqual([30, 10, 5])
    })

    it('forgets what was had while nobody else waited', async () => {
      const line = await Line.on(bench.store)
      await line.queue(['a', 100])
      await line.take(100)
      await line.queue(['b', 10], ['a', 10])
      expect(await line.take(6)).toBe('bababa')
    })

    it('puts a higher priority first, and shares within each', async () => {
      const line = await Line.on(bench.store)
      await line.queue(['a', 3], ['a', 3, 5], ['b', 1, 5], ['b', 1])
      expect(await line.take(10)).toBe('abaaabaa')
    })

    it('keeps each its own where they take turns in one commit, whatever they are called', async () => {
      const line = await Line.on(bench.store)
      const [x, y] = ['"}', '\\{ ä']
      await line.queue([x, 2], ['a', 1], [x, 1], ['a', 1], [y, 1], ['a', 1], [y, 2])
      await line.queue([y, 1])
      expect(await line.take(100)).toBe(`${`${x}a${y}`.repeat(3)}${y}`)
    })

    it('takes what says nothing of a share in its place by number', async () => {
      const line = await Line.on(bench.store)
      await line.queue([null, 2], ['a', 2], [null, 1])
      expect((await line.take(10)).length).toBe(5)
      expect(await line.take(10)).toBe('')
    })

    it('tells how many are before a request in that order', async () => {
      const line = await Line.on(bench.store)
      await line.queue(['a', 5], ['b', 1])
      const { work } = await bench.store.queued('t')
      expect(work.map(({ ahead }) => ahead)).toEqual([0, 2, 3, 4, 5, 0])
    })
  })

  describe('the line of ready tasks, where it is shared', () => {
    const named = (of: string, count: number, from = 0, change: Partial<NewTask> = {}) =>
      Array.from({ length: count }, (_, n) =>
        newTask(`${of}-${from + n}`, { share: { key: of, weight: 1 }, ...change }),
      )
    /** Whose tasks a node takes, in their order. */
    const take = async (limit: number, node = 'a') =>
      (await bench.store.claim({ node, runnable: [flow], limit })).map(({ id }) => id[0]).join('')

    it('gives claims to each in turn, however many one has put there first', async () => {
      await bench.store.submit(named('a', 50))
      expect(await take(3)).toBe('aaa')
      await bench.store.submit([...named('b', 4), ...named('c', 2)])
      const taken = [...(await take(9))].sort().join('')
      // Of two that would begin at the same instant either is next.
      expect(['aaabbbbcc', 'aaaabbbcc']).toContain(taken)
      expect((await take(100)).length).toBe(44)
    })

    it('lets a single task of another wait for about one of each that is there before it', async () => {
      await bench.store.submit([...named('a', 300), ...named('b', 300)])
      expect([...(await take(20))].sort().join('')).toBe('a'.repeat(10) + 'b'.repeat(10))
      await bench.store.submit(named('c', 1))
      expect(await take(4)).toContain('c')
    })

    it('gives more to those of more weight', async () => {
      const weighed = (of: string, weight: number) => named(of, 60, 0, { share: { key: of, weight } })
      await bench.store.submit([...weighed('a', 3), ...weighed('b', 1), ...weighed('c', 0.5)])
      const taken = await take(45)
      const [a = 0, b = 0, c = 0] = ['a', 'b', 'c'].map((one) => taken.split(one).length - 1)
      expect(Math.abs(a - 30) + Math.abs(b - 10) + Math.abs(c - 5)).toBeLessThanOrEqual(3)
    })

    it('forgets what was had while nobody else waited', async () => {
      await bench.store.submit(named('a', 100))
      await take(100)
      await bench.store.submit([...named('b', 10), ...named('a', 10, 100)])
      const first = await take(6)
      expect([...first].sort().join('')).toBe('aaabbb')
    })

    it('keeps to priorities first, and takes what says nothing of a share in its place by number', async () => {
      await bench.store.submit([...named('a', 3), ...named('b', 2, 0, { priority: 5 }), newTask('x-0')])
      expect(await take(2)).toBe('bb')
      expect([...(await take(10))].sort().join('')).toBe('aaax')
    })

    it('places a task anew that becomes ready again, also what began where it was submitted', async () => {
      const create = named('q', 1)[0] as NewTask
      const { events, ...created } = create
      const made = { ...transition({ key: 0, id: 'q-0', epoch: 1 }), key: null, create: created, seq: 1, events }
      const [outcome] = await bench.store.commit([made])
      if (!outcome?.ok) return expect.fail('not made')
      await bench.store.submit(named('a', 40))
      const release = { orphaned: false, wakeAt: null, ready: true }
      const next = transition({ key: outcome.key, id: 'q-0', epoch: 1 }, { seq: 2, release })
      expect(await bench.store.commit([next])).toMatchObject([{ ok: true }])
      expect(await take(2)).toContain('q')
    })

    it('shows and finds tags as ever', async () => {
      const tags = { tenant: 'a', '~share': 'mine' }
      await bench.store.submit([
        ...named('a', 1, 0, { tags }),
        ...named('b', 1, 0, { tags: {} }),
        newTask('c-0', { tags: { '~share': 'mine' } }),
      ])
      expect((await bench.store.task('a-0'))?.tags).toEqual(tags)
      expect((await bench.store.task('b-0'))?.tags).toEqual({})
      for (const [column, value] of Object.entries(tags)) {
        const where = [{ column: 'tag', tag: column, test: { type: 'text', oneOf: [value] } }] as const
        const { rows } = await bench.store.list({ where, limit: 10, order: 'oldest' })
        expect(rows.map(({ id }) => id)).toEqual(column === 'tenant' ? ['a-0'] : ['a-0', 'c-0'])
      }
    })

    it('keeps no row for who does not wait any more', async () => {
      for (let round = 0; round < 5; round++) {
        await bench.store.submit(
          Array.from({ length: 40 }, (_, n) =>
            newTask(`${round}.${n}`, { share: { key: `${round}.${n}`, weight: 1 } }),
          ),
        )
        expect(await take(100)).toHaveLength(40)
      }
      await bench.store.submit(named('a', 1))
      expect(await take(1)).toBe('a')
    })

    it('says of several queues what is next in each, and whose, and counts no seats that are taken', async () => {
      const { store } = bench
      const claim = await owned(store)
      const key = 'who } says "{\\'
      const queued = [
        { agent: 'pay#a', share: { key, weight: 0.5 }, priority: 1 },
        { agent: 'pay#a', share: null, priority: 2 },
        { agent: 'pay#b', share: null, priority: -3 },
        { agent: 'pay#b', share: { key: 'late', weight: 1 }, priority: -3, expiresAt: 1 },
        { agent: 'pay#c', share: null, priority: 0 },
      ]
      const work = queued.map(({ share, ...given }, index) => {
        const request = workRequest('t', index + 1, given)
        return { ...request, request: { ...(share && { share }), ...request.request } }
      })
      await store.commit([transition(claim, { seq: 2, work })])
      const of = (agent: string, more = {}) => ({ agent, actions: ['pay.charge'], limit: 1, ...more })
      const queues = [of('pay#b'), of('pay#a'), of('pay#none'), { ...of('pay#c'), actions: ['pay.look'] }]
      expect(await store.queueHeads({ queues, depth: 5 })).toEqual([
        { agent: 'pay#b', rank: -3, share: null },
        { agent: 'pay#a', rank: 2, share: null },
        { agent: 'pay#a', rank: 1, share: { key, weight: 0.5 } },
      ])
      expect(await store.queueHeads({ queues: [of('pay#a')], depth: 1 })).toHaveLength(1)
      expect(await store.queueHeads({ queues: [of('pay#a', { ranks: { below: 2 } })], depth: 5 })).toHaveLength(1)
      const seats = [{ name: 'pay#a', most: 1 }]
      await store.takeWork({ node: 'b', agents: [of('pay#a', { seats })] })
      expect(await store.queueHeads({ queues: [of('pay#a', { seats }), of('pay#c')], depth: 5 })).toEqual([
        { agent: 'pay#c', rank: 0, share: null },
      ])
    })
  })
}
