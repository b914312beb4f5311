import { describe, expect, it } from 'vitest'
import type { Share } from '../../src/policy/line.ts'
import type { StateStore, WorkRequest } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { owned, transition, workRequest } from './samples.ts'

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

  async queue(...shares: (readonly [share: string | Share | null, count: number, priority?: number])[]): Promise<void> {
    const work = shares.flatMap(([given, count, priority = 0]) =>
      Array.from({ length: count }, () => this.#request(given, priority)),
    )
    await this.#store.commit([transition(this.#claim, { seq: this.#seq++, work })])
  }

  #request(given: string | Share | null, priority: number): WorkRequest {
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
      expect(await line.take(9)).toBe('abcabcaba')
      expect(await line.take(40)).toBe(`b${'a'.repeat(39)}`)
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
}
