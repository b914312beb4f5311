import { describe, expect, it } from 'vitest'
import type { Claim, PermitLimit, QueueShare, StateStore, WorkItem } from '../../src/store/port.ts'
import { advancing } from './clock.ts'
import type { Bench } from './conformance.ts'
import { flow, owned, replyTo, snapshot, transition, workRequest } from './samples.ts'

const PAY = { name: 'pay', most: 3 }
const CHARGE = { name: 'pay.charge', most: 2 }

export async function queued(store: StateStore, actions: readonly string[]): Promise<void> {
  const work = actions.map((action, index) => {
    const request = workRequest('t', index + 1, { action })
    return { ...request, request: { ...request.request, step: index + 1, action } }
  })
  await store.commit([transition(await owned(store), { work })])
}

function take(store: StateStore, actions: readonly string[], seats: readonly PermitLimit[], node = 'b', limit = 10) {
  return store.takeWork({ node, agents: [{ agent: 'pay', actions, limit, seats }] })
}

const steps = (items: readonly WorkItem[]) => items.map(({ request }) => request.step)
const charges = (count: number) => Array.from({ length: count }, () => 'pay.charge')

/** Bounds that all who take requests share. `shared`: several stores can work on the same data. */
export function seatSuite(bench: Bench, { shared }: { shared: boolean }): void {
  describe('a bound that takers share', () => {
    it('is never exceeded, whoever takes, and lets as many go as there is room for', async () => {
      const { store } = bench
      await queued(store, charges(6))
      expect(steps(await take(store, ['pay.charge'], [PAY], 'b', 2))).toEqual([1, 2])
      expect(steps(await take(store, ['pay.charge'], [PAY], 'c'))).toEqual([3])
      expect(await take(store, ['pay.charge'], [PAY], 'b')).toEqual([])
      expect(await store.permits(['pay', 'none'])).toEqual([{ name: 'pay', taken: 3, most: 3 }])
    })

    it('has a seat free again as soon as a request is answered, withdrawn with its node, or late', async () => {
      const { store, clock } = bench
      await queued(store, charges(6))
      await store.heartbeat({ id: 'c', roles: [], lease: 1_000 })
      const [first] = await take(store, ['pay.charge'], [PAY], 'b', 1)
      await take(store, ['pay.charge'], [PAY], 'c')
      const message = replyTo(1)
      expect(await store.reply([{ work: first?.id as number, node: 'b', message }])).toEqual([true])
      expect(await store.permits(['pay'])).toEqual([{ name: 'pay', taken: 2, most: 3 }])
      await store.leave('c')
      expect(await store.permits(['pay'])).toEqual([])
      expect(steps(await take(store, ['pay.charge'], [PAY], 'b'))).toEqual([4, 5, 6])
      clock.advance(2_000)
      const token = (await store.lead({ name: 's', node: 'b', ttl: 1_000 })) as number
      await store.sweep({ name: 's', token, limit: 100 })
      expect(await store.permits(['pay'])).toEqual([])
    })

    it('is free again as soon as a task that is quarantined is ended or cut, or forgets a step; who runs it hears so with its next beat', async () => {
      const { store } = bench
      const t = await owned(store)
      const commit = (seq: number, work: number[], forget: number[] = []) => {
        const requests = work.map((step) => {
          const request = workRequest('t', step)
          return { ...request, request: { ...request.request, step } }
        })
        return store.commit([transition(t, { seq, work: requests, forget })])
      }
      const taken = async () => (await store.permits(['pay']))[0]?.taken ?? 0
      const late = async (items: readonly WorkItem[]) => {
        const beat = items.map(({ id, request: { step } }) => {
          return { work: id, node: 'b', message: { type: 'heartbeat', step, attempt: 1 } as const }
        })
        expect(await taken()).toBe(0)
        expect(await store.heartbeatWork(beat)).toEqual(items.map(() => 'late'))
      }
      const start = async () => {
        const items = await take(store, ['pay.charge'], [PAY])
        expect(await taken()).toBe(items.length)
        expect(items.length).toBeGreaterThan(0)
        return items
      }
      await commit(2, [1, 2])
      const forgotten = await start()
      await commit(3, [], [1, 2])
      await late(forgotten)
      await commit(4, [3])
      const cut = await start()
      const at = bench.clock.now()
      await store.quarantine({ key: t.key, id: 't', epoch: t.epoch, node: 'a', at, orphaned: true, record: null })
      expect(await taken()).toBe(1)
      const running = snapshot({ status: 'running' })
      expect(
        await store.truncate({ id: 't', after: 3, at, events: '["cut"]', base: 1, locks: [], snapshot: running }),
      ).toBe(true)
      await late(cut)
      await store.releaseQuarantine('t')
      const [again] = await store.claim({ node: 'a', runnable: [flow], limit: 1, trial: true })
      const { key, epoch } = again as Claim
      const work = [{ ...workRequest('t', 4), request: { ...workRequest('t', 4).request, step: 4 } }]
      await store.commit([transition({ key, id: 't', epoch }, { seq: 5, work })])
      const ended = await start()
      await store.quarantine({ key, id: 't', epoch, node: 'a', at, orphaned: true, record: null })
      const stopped = snapshot({ status: 'stopped', result: 'cancelled' })
      expect(await store.terminate({ id: 't', at, events: '["stopped"]', snapshot: stopped, posts: [] })).toBe(true)
      await late(ended)
    })

    it('of an action holds beside that of its agent, and neither keeps what is not under it', async () => {
      const { store } = bench
      await queued(store, ['pay.charge', 'pay.charge', 'pay.charge', 'pay.look', 'pay.look', 'pay.look'])
      expect(steps(await take(store, ['pay.charge'], [PAY, CHARGE]))).toEqual([1, 2])
      expect(steps(await take(store, ['pay.look'], [PAY]))).toEqual([4])
      expect(await store.permits(['pay', 'pay.charge'])).toEqual([
        { name: 'pay', taken: 3, most: 3 },
        { name: 'pay.charge', taken: 2, most: 2 },
      ])
      // Whoever knows of no bound heeds none.
      expect(
        steps(await store.takeWork({ node: 'b', agents: [{ agent: 'pay', actions: ['pay.look'], limit: 9 }] })),
      ).toEqual([5, 6])
    })

    it('may be another later: what runs goes on, and the new one counts from then on', async () => {
      const { store } = bench
      await queued(store, charges(6))
      const [first] = await take(store, ['pay.charge'], [PAY])
      expect(await take(store, ['pay.charge'], [{ name: 'pay', most: 1 }])).toEqual([])
      const message = replyTo(1)
      await store.reply([{ work: first?.id as number, node: 'b', message }])
      expect(await take(store, ['pay.charge'], [{ name: 'pay', most: 2 }])).toEqual([])
      expect(steps(await take(store, ['pay.charge'], [{ name: 'pay', most: 4 }]))).toEqual([4, 5])
      expect(await store.permits(['pay'])).toEqual([{ name: 'pay', taken: 4, most: 4 }])
    })

    it.runIf(shared)('is never exceeded by takers of several processes at the same time', async () => {
      const { store } = bench
      await queued(store, charges(40))
      const stores = [store, await bench.another(), await bench.another()]
      const bound = [{ name: 'pay', most: 7 }]
      const takers = stores.flatMap((it, index) =>
        [1, 2, 3].map((each) => take(it, ['pay.charge'], bound, `n${index}`, each)),
      )
      const taken = (await advancing(bench.clock, Promise.all(takers))).flat()
      expect(taken).toHaveLength(7)
      expect(await store.permits(['pay'])).toEqual([{ name: 'pay', taken: 7, most: 7 }])
    })
  })

  describe('what is taken of some priorities only', () => {
    const of = async (store: StateStore, ranks: QueueShare['ranks'], more: Partial<QueueShare> = {}) => {
      const share: QueueShare = { agent: 'pay', actions: ['pay.charge'], limit: 10, ...more }
      return steps(await store.takeWork({ node: 'b', agents: [{ ...share, ...(ranks && { ranks }) }] }))
    }
    const ranked = async (store: StateStore, ranks: readonly number[]) => {
      const work = ranks.map((priority, index) => workRequest('t', index + 1, { priority }))
      await store.commit([
        transition(await owned(store), {
          work: work.map((it, index) => ({ ...it, request: { ...it.request, step: index + 1 } })),
        }),
      ])
    }

    it('is those from the least on, or those below, in their order, and nothing else', async () => {
      const { store } = bench
      await ranked(store, [0, 5, 4, 9, -3, 5])
      expect(await of(store, { least: 5 }, { limit: 2 })).toEqual([4, 2])
      expect(await of(store, { below: 5 }, { limit: 2 })).toEqual([3, 1])
      expect(await of(store, { least: 6 })).toEqual([])
      expect(await of(store, { below: -3 })).toEqual([])
      expect(await of(store, undefined)).toEqual([6, 5])
    })

    it('is under bounds that takers share, and with undo and verify first, as everything is', async () => {
      const { store } = bench
      await ranked(store, [5, 9, 0, 7])
      expect(await of(store, { least: 5 }, { seats: [{ name: 'pay', most: 2 }] })).toEqual([2, 4])
      expect(await of(store, { least: 5 }, { seats: [{ name: 'pay', most: 2 }] })).toEqual([])
      expect(await of(store, { below: 5 }, { urgent: true })).toEqual([3])
      expect(await of(store, { least: 5 }, { urgent: true })).toEqual([1])
    })
  })
}
