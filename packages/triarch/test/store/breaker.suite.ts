import { describe, expect, it } from 'vitest'
import { refsOf } from '../../src/store/breaker.ts'
import type { BreakerKind, BreakerWrite, StateStore } from '../../src/store/port.ts'
import type { Bench } from './conformance.ts'
import { owned, transition, workRequest } from './samples.ts'

const write = (name: string, change: Partial<BreakerWrite> = {}): BreakerWrite => {
  return { kind: 'breaker', name, expected: 0, state: '{"n":1}', ...change }
}
const namesOf = async (rows: ReturnType<StateStore['breakers']>) => (await rows).map(({ name }) => name)

export function breakerSuite(bench: Bench): void {
  describe('a circuit breaker', () => {
    it('is written at the version that was read, or not at all', async () => {
      const { store } = bench
      expect(await store.writeBreaker(write('pay'))).toBe(true)
      expect(await store.writeBreaker(write('pay'))).toBe(false)
      expect(await store.writeBreaker(write('pay', { expected: 1, state: '{"n":2}' }))).toBe(true)
      expect(await store.writeBreaker(write('pay', { expected: 1, state: '{"n":3}' }))).toBe(false)
      const row = { kind: 'breaker', name: 'pay', version: 2, state: '{"n":2}', waiting: 0 }
      expect(await store.breakers({ refs: [{ kind: 'breaker', name: 'pay' }], count: 1 })).toEqual([row])
      expect(await store.writeBreaker(write('pay', { expected: 1, state: null }))).toBe(false)
      expect(await store.writeBreaker(write('pay', { expected: 2, state: null }))).toBe(true)
      expect(await store.breakers({ kind: 'breaker', after: '', limit: 10, count: 1 })).toEqual([])
    })

    it('and a rate limit and a rest of the same name are rows of their own', async () => {
      const { store } = bench
      const kinds: BreakerKind[] = ['breaker', 'rate', 'rest']
      for (const kind of kinds) expect(await store.writeBreaker(write('pay', { kind, state: `"${kind}"` }))).toBe(true)
      expect(await store.writeBreaker(write('pay', { kind: 'rate', expected: 1, state: '"other"' }))).toBe(true)
      const states = async (rows: ReturnType<StateStore['breakers']>) =>
        (await rows).map(({ kind, state }) => [kind, state])
      const all = kinds.flatMap((kind) => refsOf(kind, ['pay']))
      expect(await states(store.breakers({ refs: all, count: 1 }))).toEqual([
        ['breaker', '"breaker"'],
        ['rate', '"other"'],
        ['rest', '"rest"'],
      ])
      for (const kind of kinds)
        expect((await states(store.breakers({ kind, after: '', limit: 10, count: 1 }))).map(([of]) => of)).toEqual([
          kind,
        ])
      expect(await states(store.breakers({ agent: 'pay', after: '', limit: 10, count: 1 }))).toEqual([
        ['breaker', '"breaker"'],
      ])
      expect(await states(store.breakers({ limits: ['pay'], count: 1 }))).toEqual([['rate', '"other"']])
      expect(await store.writeBreaker(write('pay', { kind: 'rest', expected: 1, state: null }))).toBe(true)
      expect((await states(store.breakers({ refs: all, count: 1 }))).map(([, state]) => state)).toEqual([
        '"breaker"',
        '"other"',
        null,
      ])
    })

    it('comes with those of its agent, and no other, a page at a time', async () => {
      const { store } = bench
      for (const name of ['pay', 'pay#eu', 'pay#us', 'pay#é', 'payments', 'pax', 'pay-x', 'pay$']) {
        expect(await store.writeBreaker(write(name))).toBe(true)
      }
      const of = (after: string, limit: number) => namesOf(store.breakers({ agent: 'pay', after, limit, count: 1 }))
      expect(await of('', 10)).toEqual(['pay', 'pay#eu', 'pay#us', 'pay#é'])
      expect(await of('', 2)).toEqual(['pay', 'pay#eu'])
      expect(await of('pay#eu', 10)).toEqual(['pay#us', 'pay#é'])
      expect(await namesOf(store.breakers({ kind: 'breaker', after: 'pay', limit: 3, count: 1 }))).toEqual([
        'pay#eu',
        'pay#us',
        'pay#é',
      ])
    })

    it('says how much waits in its queue, also where there is a queue and no breaker', async () => {
      const { store } = bench
      await store.writeBreaker(write('pay#us'))
      const claim = await owned(store)
      const queue = (step: number, agent: string) => workRequest('t', step, { agent })
      const work = [queue(1, 'pay'), queue(2, 'pay'), queue(3, 'pay#eu'), queue(4, 'pay#zz'), queue(5, 'payments')]
      await store.commit([transition(claim, { work })])
      const rows = (await store.breakers({ agent: 'pay', after: '', limit: 10, count: 9 })).map(
        ({ name, version, waiting }) => [name, version, waiting],
      )
      expect(rows).toEqual([
        ['pay', 0, 2],
        ['pay#eu', 0, 1],
        ['pay#us', 1, 0],
        ['pay#zz', 0, 1],
      ])
      expect(
        (await store.breakers({ refs: refsOf('breaker', ['pay', 'none', 'pay']), count: 1 })).map((row) => row.waiting),
      ).toEqual([0, 1])
      await store.takeWork({ node: 'b', agents: [{ agent: 'pay#eu', actions: ['pay.charge'], limit: 5 }] })
      expect(await namesOf(store.breakers({ agent: 'pay', after: '', limit: 10, count: 1 }))).not.toContain('pay#eu')
      expect((await store.queued('t')).work.map((it) => it.queue)).toEqual([
        'pay',
        'pay',
        'pay#eu',
        'pay#zz',
        'payments',
      ])
    })
  })

  it('says what waits under a rate limit: of its agent in all queues, of its action, of its key', async () => {
    const { store } = bench
    const claim = await owned(store)
    const queue = (step: number, agent: string, action: string) => workRequest('t', step, { agent, action })
    const work = [
      ...[queue(1, 'pay', 'pay.charge'), queue(2, 'pay', 'pay.look'), queue(3, 'pay#a.b', 'pay.charge')],
      ...[queue(4, 'pay#a.b', 'pay.look'), queue(5, 'pay#c', 'pay.charge'), queue(6, 'payments', 'payments.charge')],
    ]
    await store.commit([transition(claim, { work })])
    expect(await store.writeBreaker(write('pay.charge', { kind: 'rate' }))).toBe(true)
    const names = ['pay', 'pay#a.b', 'pay.charge', 'pay.charge#a.b', 'pay.charge#c', 'pay.none']
    const rows = async (count: number) => store.breakers({ limits: [...names, 'pay'], count })
    expect((await rows(9)).map(({ name, version, waiting }) => [name, version, waiting])).toEqual([
      ['pay', 0, 5],
      ['pay#a.b', 0, 2],
      ['pay.charge', 1, 3],
      ['pay.charge#a.b', 0, 1],
      ['pay.charge#c', 0, 1],
      ['pay.none', 0, 0],
    ])
    expect((await rows(2)).map(({ waiting }) => waiting)).toEqual([2, 2, 2, 1, 1, 0])
  })

  it('what is urgent is taken before what has a higher priority', async () => {
    const { store } = bench
    const claim = await owned(store)
    const request = (step: number, operation: 'run' | 'undo' | 'verify', priority: number) => {
      const { request: asked, ...rest } = workRequest('t', step, { operation, priority })
      return { ...rest, request: { ...asked, step, operation } }
    }
    const work = [request(1, 'run', 9), request(2, 'undo', 0), request(3, 'verify', 1), request(4, 'run', 0)]
    await store.commit([transition(claim, { work })])
    const taken = async (urgent: boolean, limit: number) => {
      const share = { agent: 'pay', actions: ['pay.charge'], limit, ...(urgent && { urgent: true as const }) }
      return (await store.takeWork({ node: 'b', agents: [share] })).map((item) => item.request.step)
    }
    expect((await taken(true, 2)).sort()).toEqual([2, 3])
    expect(await taken(false, 1)).toEqual([1])
    expect(await taken(true, 5)).toEqual([4])
    expect(await taken(true, 5)).toEqual([])
  })
}
