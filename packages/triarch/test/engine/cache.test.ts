import { describe, expect, it } from 'vitest'
import {
  agent,
  type CacheOptions,
  PermanentError,
  type RateLimitOptions,
  type TaskHandle,
  TransientError,
  workflow,
} from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { memory, type TestOptions, VirtualEnvironment } from '../../src/testing/index.ts'
import { codeOf, type Stage, seen, stage } from './harness.ts'
import { scratch } from './scratch.ts'

interface Ask {
  what: string
  also?: number
}

/** A service that is asked for rates, and how often it was. */
function rates(
  cache: CacheOptions<Ask>,
  options: { concurrency?: number | { shared: number }; circuitBreaker?: object; rateLimit?: RateLimitOptions } = {},
) {
  const calls: string[] = []
  let environment: VirtualEnvironment | undefined
  const service = { ill: false, slow: 0, version: 1 }
  const bank = agent('bank', options)
  const rate = bank.action('rate', {
    cache,
    retry: { attempts: 1_000, backoff: { initial: 100, max: 100, jitter: false } },
    run: async ({ what }: Ask) => {
      calls.push(what)
      const { version } = service
      if (service.slow > 0) await new Promise<void>((resolve) => environment?.timer(service.slow, resolve))
      if (what === 'nothing') throw new PermanentError('there is none')
      if (service.ill) throw new TransientError('ill')
      return `${what} ${version}`
    },
  })
  const quote = workflow('quote', { run: (ask: Ask, task) => task.run(rate, ask, { rescue: 'fail' }) })
  const start = async (more: TestOptions = {}) => {
    const s = await stage({ workflows: [quote], agents: [bank], ...more })
    environment = s.engine.environment
    return s
  }
  return { calls, service, rate, quote, start }
}

async function asked(s: Stage, of: ReturnType<typeof rates>, ask: Ask): Promise<string> {
  const task = await s.submit(of.quote, ask)
  for (let waited = 0; waited < 100 && (await task.status()).status !== 'stopped'; waited++) await s.advance(50)
  return task.result()
}

const cachedOf = async (task: TaskHandle<unknown>) => (await task.steps())[0]?.cached

describe('an action with a cache', () => {
  it('is asked once for what is equal, until its time is over, and the history says where the answer is from', async () => {
    const of = rates({ ttl: '10s', jitter: 0 })
    await using s = await of.start()
    expect(await asked(s, of, { what: 'eur', also: 1 })).toBe('eur 1')
    of.service.version = 2
    const again = await s.submit(of.quote, { also: 1, what: 'eur' }, { id: 'again' })
    await s.advance('1s')
    expect(await again.result()).toBe('eur 1')
    expect(await cachedOf(again)).toEqual({ at: expect.any(Date), from: 'memory' })
    const events = (await again.history()).flatMap(({ events }) => events)
    expect(events.find(({ type }) => type === 'stepCompleted')).toMatchObject({
      cached: { from: 'memory' },
      attempt: 1,
    })
    expect(await asked(s, of, { what: 'eur', also: 2 })).toBe('eur 2')
    await s.advance('10s')
    expect(await asked(s, of, { what: 'eur', also: 1 })).toBe('eur 2')
    expect(of.calls).toHaveLength(3)
  })

  it('is asked once by many at a time, whatever its slots', async () => {
    const of = rates({ ttl: '1m' }, { concurrency: 2 })
    await using s = await of.start()
    of.service.slow = 500
    const tasks = await Promise.all(Array.from({ length: 50 }, () => s.submit(of.quote, { what: 'eur' })))
    await s.advance('2s')
    expect(new Set(await Promise.all(tasks.map((task) => task.result())))).toEqual(new Set(['eur 1']))
    expect(of.calls).toHaveLength(1)
  })

  it('is asked by the next when the one who asked failed', async () => {
    const of = rates({ ttl: '1m' })
    await using s = await of.start()
    of.service.ill = true
    const tasks = await Promise.all(Array.from({ length: 5 }, () => s.submit(of.quote, { what: 'eur' })))
    await s.advance('300ms')
    of.service.ill = false
    await s.advance('5s')
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual(Array(5).fill('eur 1'))
  })

  it('answers while its circuit breaker is open what it knows, and lets wait what it does not', async () => {
    const of = rates({ ttl: '1h' }, { circuitBreaker: {} })
    await using s = await of.start()
    await s.advance('1s')
    await asked(s, of, { what: 'eur' })
    await s.engine.triarch.breakers.get('bank').open({ reason: 'maintenance' })
    await s.advance('2s')
    expect(await asked(s, of, { what: 'eur' })).toBe('eur 1')
    const other = await s.submit(of.quote, { what: 'usd' })
    await s.advance('5s')
    expect((await other.status()).status).toBe('running')
    expect((await other.explain()).reasons).toMatchObject([{ code: 'breaker' }])
    await s.engine.triarch.breakers.get('bank').close({ reason: 'done' })
    await s.advance('10s')
    expect(await other.result()).toBe('usd 1')
    expect(of.calls).toEqual(['eur', 'usd'])
  })

  it('answers what it knows while all slots are taken, and nothing while its agent is paused', async () => {
    const of = rates({ ttl: '1h' }, { concurrency: 1 })
    await using s = await of.start()
    await asked(s, of, { what: 'eur' })
    of.service.slow = 10_000
    const slow = await s.submit(of.quote, { what: 'usd' })
    await s.advance('1s')
    expect(await asked(s, of, { what: 'eur' })).toBe('eur 1')
    expect((await slow.status()).status).toBe('running')
    await s.advance('2m')
    const setting = s.engine.triarch.settings.get('triarch.agent.bank')
    await setting.set({ paused: 'maintenance' }, { reason: 'a test' })
    await s.advance('2s')
    const kept = await s.submit(of.quote, { what: 'eur' })
    await s.advance('5s')
    expect((await kept.explain()).reasons).toMatchObject([{ code: 'agent-paused' }])
    await setting.clear({ reason: 'a test' })
    await s.advance('5s')
    expect(await kept.result()).toBe('eur 1')
    expect(of.calls).toEqual(['eur', 'usd'])
  })

  it('gives what is stale at once, and asks for another meanwhile, once', async () => {
    const of = rates({ ttl: '10s', jitter: 0, staleWhileRevalidate: '1m' })
    await using s = await of.start()
    await asked(s, of, { what: 'eur' })
    of.service.version = 2
    await s.advance('20s')
    const task = await s.submit(of.quote, { what: 'eur' }, { id: 'stale' })
    await s.advance('1s')
    expect(await task.result()).toBe('eur 1')
    expect(await cachedOf(task)).toMatchObject({ stale: true })
    expect(await asked(s, of, { what: 'eur' })).toBe('eur 2')
    expect(of.calls).toHaveLength(2)
  })

  it('takes off no more than its jitter: no answer ends before, none after its time, and not all at once', async () => {
    const of = rates({ ttl: '100s', jitter: 0.4 })
    await using s = await of.start()
    const names = Array.from({ length: 60 }, (_, n) => `${n}`)
    const askAll = async () => {
      for (const what of names) await s.submit(of.quote, { what })
      await s.advance('500ms')
      return of.calls.splice(0).length
    }
    expect(await askAll()).toBe(60)
    await s.advance('58s')
    expect(await askAll()).toBe(0)
    await s.advance('20s')
    const half = await askAll()
    expect(half).toBeGreaterThan(10)
    expect(half).toBeLessThan(50)
    await s.advance('21s')
    // Those that were asked for again began anew.
    expect(await askAll()).toBe(60 - half)
  })

  it('remembers permanent errors only where it is told to', async () => {
    for (const [negative, calls] of [
      ['1m', 1],
      [0, 2],
    ] as const) {
      const of = rates({ ttl: '1m', negative })
      await using s = await of.start()
      for (let n = 0; n < 2; n++) expect(await codeOf(asked(s, of, { what: 'nothing' }))).toBe('TASK_FAILED')
      expect(of.calls).toHaveLength(calls)
    }
  })

  it('is refused where it would keep something from being done', async () => {
    const own = agent('own')
    const run = async () => 1
    const refused = (more: object) =>
      codeOf((async () => own.action('x', { cache: { ttl: 1 }, run, ...more } as never))())
    for (const more of [{ undo: run }, { verify: run }, { semantics: 'at-most-once' }, { cache: {} }])
      expect(await refused(more), JSON.stringify(more)).toMatch(/INVALID_(OPTION|DURATION)/)
    expect(await refused({ cache: { ttl: 1, tll: 1 } })).toBe('UNKNOWN_OPTION')
    expect(await refused({ cache: { ttl: 1, jitter: 2 } })).toBe('INVALID_OPTION')
  })
})

describe('over nodes', () => {
  function town(cache: CacheOptions<Ask>) {
    const of = rates(cache)
    const file = scratch()
    const environment = new VirtualEnvironment()
    const node = (more: TestOptions = {}) => of.start({ store: file.store, environment, poll: '100ms', ...more })
    return { of, node, [Symbol.dispose]: () => file[Symbol.dispose]() }
  }

  it('is not asked by a node that another one overtakes between its look for an answer and its word that it will ask', async () => {
    using file = scratch()
    const environment = new VirtualEnvironment()
    const of = rates({ ttl: '1m' })
    let overtaken = false
    const store = seen(file.store, (own) => ({
      async beginFill(fill) {
        if (!overtaken) {
          overtaken = true
          const other = { ...fill, node: 'another' }
          expect(await own.beginFill(other)).toMatchObject({ begun: true })
          of.calls.push('by the other node')
          const value = JSON.stringify({
            value: JSON.stringify({ output: 'eur 0', fresh: 60_000, stale: 0 }),
            names: [],
          })
          await own.writeCache({
            ...{ key: fill.key, node: other.node, value, seen: 0 },
            at: await own.now(),
            keep: 60_000,
          })
        }
        return own.beginFill(fill)
      },
    }))
    await using s = await of.start({ store, environment, poll: '100ms' })
    expect(await asked(s, of, { what: 'eur' })).toBe('eur 0')
    expect(of.calls).toEqual(['by the other node'])
  })

  it('a miss costs one read, one claim and one write; and one read when the claim fails', async () => {
    const fails = {
      null: null,
      'at once': () => Promise.reject(new Error('down')),
      never: () => new Promise<never>(() => undefined),
    }
    for (const fail of Object.values(fails)) {
      using file = scratch()
      const of = rates({ ttl: '1m' })
      const calls: string[] = []
      const store = seen(file.store, (own) =>
        Object.fromEntries(
          (['readCache', 'beginFill', 'writeCache', 'endFill'] as const).map((name) => [
            name,
            (argument: never) => {
              calls.push(name)
              return name === 'beginFill' && fail ? fail() : own[name](argument)
            },
          ]),
        ),
      )
      await using s = await of.start({ store })
      expect(await asked(s, of, { what: 'eur' })).toBe('eur 1')
      expect(calls).toEqual(['readCache', 'beginFill', 'writeCache'])
    }
  })

  it('an answer of one is an answer of all, and so is a call that is under way', async () => {
    using t = town({ ttl: '1m' })
    const { of } = t
    await using one = await t.node()
    of.service.slow = 700
    const first = await one.submit(of.quote, { what: 'eur' })
    await one.advance('200ms')
    await using other = await t.node()
    const second = await other.submit(of.quote, { what: 'eur' }, { id: 'second' })
    await other.advance('2s')
    expect([await first.result(), await second.result()]).toEqual(['eur 1', 'eur 1'])
    expect(of.calls).toHaveLength(1)
  })

  it('whoever asks after it waited for others is the only one who does, all the same', async () => {
    using t = town({ ttl: '1m' })
    const { of } = t
    const one = await t.node()
    await using two = await t.node()
    await using three = await t.node()
    of.service.slow = 60_000
    await one.submit(of.quote, { what: 'eur' })
    await one.advance('1s')
    const second = await two.submit(of.quote, { what: 'eur' })
    await two.advance('14s')
    await one.kill()
    of.service.slow = 5_000
    await two.advance('2s')
    const third = await three.submit(of.quote, { what: 'eur' })
    await three.advance('8s')
    expect([await second.result(), await third.result()]).toEqual(['eur 1', 'eur 1'])
    expect(of.calls).toHaveLength(2)
  })

  it.each([
    ['process', undefined],
    ['shared', 'shared'],
  ] as const)('an answer of scope %s is known to others as that says', async (scope, from) => {
    using t = town({ ttl: '1h', scope })
    const one = await t.node()
    expect(await asked(one, t.of, { what: 'eur' })).toBe('eur 1')
    await one.kill()
    t.of.service.version = 2
    await using other = await t.node()
    const seen: unknown[] = []
    for (let n = 0; n < 2; n++) {
      const task = await other.submit(t.of.quote, { what: 'eur' })
      await other.advance('1s')
      seen.push([await task.result(), (await cachedOf(task))?.from])
    }
    const answer = from === undefined ? 'eur 2' : 'eur 1'
    expect(seen).toEqual([
      [answer, from],
      [answer, 'memory'],
    ])
  })

  it('nothing that is secret is shared, nor in any key: neither what is asked nor what is answered', async () => {
    const kept: string[] = []
    const keep = (...said: unknown[]) => void kept.push(JSON.stringify(said))
    const shared = { get: async (key: string) => keep(key), set: async (...said: unknown[]) => keep(...said) }
    const vault = agent('vault')
    const cache = { ttl: '1h', scope: 'shared' } as const
    type Card = { pin: string; of: string }
    let calls = 0
    const by = (name: string, options: { secrets?: string[]; cache: CacheOptions<Card> }) =>
      vault.action(name, { ...options, run: ({ of }: Card) => `${of} ${++calls}` })
    const keyed = { ...cache, key: ({ pin }: Card) => pin, tags: ({ pin }: Card) => [pin] }
    const whole = by('whole', { secrets: ['pin'], cache })
    const actions = [whole, by('keyed', { secrets: ['pin'], cache: keyed }), by('plain', { cache }), whole]
    const flow = workflow('flow', {
      async run(card: Card, task) {
        const answers: string[] = []
        for (const action of actions) answers.push(await task.run(action, card))
        return answers
      },
    })
    await using s = await stage({ workflows: [flow], agents: [vault], cache: { shared } })
    const task = await s.submit(flow, { pin: 'hunter2', of: 'ada' })
    await s.advance('5s')
    // This process gives it again all the same.
    expect(await task.result()).toEqual(['ada 1', 'ada 2', 'ada 3', 'ada 1'])
    // Of what has no secrets the answer is shared, and what was asked is a digest.
    expect(kept.filter((line) => line.includes('ada 3'))).toHaveLength(1)
    expect(kept.filter((line) => /hunter2|ada 1|ada 2|whole|keyed/.test(line))).toEqual([])
  })

  it('no answer is given that was asked for before it was invalidated: by key, action, tag', async () => {
    using t = town({ ttl: '1h', key: ({ what }) => what, tags: ({ also }) => [`also:${also}`] })
    const { of } = t
    await using one = await t.node()
    await using other = await t.node()
    const ask = { what: 'eur', also: 7 }
    const both = async () => [await asked(one, of, ask), await asked(other, of, ask)]
    expect(await both()).toEqual(['eur 1', 'eur 1'])
    const ways = [
      () => one.engine.triarch.caches.invalidate(of.rate, 'eur'),
      () => other.engine.triarch.caches.invalidate('bank.rate'),
      () => one.engine.triarch.caches.invalidate({ tag: 'also:7' }),
    ]
    for (const [index, way] of ways.entries()) {
      of.service.version++
      const done = way()
      await one.advance('1s')
      await done
      expect(await both(), String(index)).toEqual(Array(2).fill(`eur ${of.service.version}`))
    }
    const before = of.calls.length
    const done = one.engine.triarch.caches.invalidate(of.rate, 'usd')
    await one.advance('1s')
    await done
    await both()
    expect(of.calls).toHaveLength(before)
    expect(await codeOf(one.engine.triarch.caches.invalidate('bank'))).toBe('INVALID_OPTION')
    expect(await codeOf(one.engine.triarch.caches.invalidate({ tag: '' }))).toBe('INVALID_OPTION')
  })

  it('what was asked for before it was invalidated is not kept for those who ask after', async () => {
    using t = town({ ttl: '1h' })
    const { of } = t
    await using s = await t.node()
    of.service.slow = 2_000
    const old = await s.submit(of.quote, { what: 'eur' })
    await s.advance('500ms')
    const done = s.engine.triarch.caches.invalidate(of.rate)
    await s.advance('500ms')
    await done
    of.service.version = 2
    of.service.slow = 0
    const fresh = await s.submit(of.quote, { what: 'eur' })
    await s.advance('5s')
    expect([await old.result(), await fresh.result()]).toEqual(['eur 1', 'eur 2'])
  })

  it('what was invalidated while somebody waited to ask is no matter of what is asked then', async () => {
    using t = town({ ttl: '1m' })
    const { of } = t
    const one = await t.node()
    await using two = await t.node()
    of.service.slow = 60_000
    await one.submit(of.quote, { what: 'eur' })
    await one.advance('1s')
    const waits = await two.submit(of.quote, { what: 'eur' })
    await two.advance('1s')
    const done = two.engine.triarch.caches.invalidate(of.rate)
    await two.advance('1s')
    await done
    await one.kill()
    of.service.slow = 0
    await two.advance('2s')
    expect(await waits.result()).toBe('eur 1')
    expect(await asked(two, of, { what: 'eur' })).toBe('eur 1')
    expect(of.calls).toHaveLength(2)
  })

  it('a cache that is down, or says nothing, costs nobody an answer', async () => {
    for (const fail of [() => Promise.reject(new Error('down')), () => new Promise<never>(() => undefined)]) {
      using file = scratch()
      const of = rates({ ttl: '1m' })
      const broken = ['readCache', 'writeCache', 'beginFill', 'endFill', 'invalidated'] as const
      const store = seen(file.store, () => Object.fromEntries(broken.map((name) => [name, fail])))
      await using s = await of.start({ store })
      expect(await asked(s, of, { what: 'eur' })).toBe('eur 1')
      expect(await asked(s, of, { what: 'eur' })).toBe('eur 1')
      expect(of.calls).toHaveLength(2)
    }
  })

  it('a cache that answers more slowly than instants of a rate limit last keeps nothing from beginning', async () => {
    const of = rates({ ttl: '1m' }, { rateLimit: { limit: 40, per: '1s', burst: 4 } })
    let looks = 0
    const slow: StoreFactory = (environment) => {
      const store = memory()(environment)
      const recall = store.readCache.bind(store)
      store.readCache = async (key) => {
        looks++
        await new Promise<void>((resolve) => void environment.timer(400, resolve))
        return recall(key)
      }
      return store
    }
    await using s = await of.start({ store: slow })
    const names = ['eur', 'usd', 'gbp', 'chf', 'jpy']
    const tasks = await Promise.all(names.map((what) => s.submit(of.quote, { what })))
    await s.advance('5s')
    expect(await Promise.all(tasks.map((task) => task.status()))).toMatchObject(
      names.map((what) => ({ output: `${what} 1` })),
    )
    expect(of.calls).toHaveLength(5)
    expect(looks).toBeLessThanOrEqual(10)
  })

  it('who waited for an answer that failed is the next to ask, also under a bound over all nodes or a rate of its key', async () => {
    for (const bound of [
      { concurrency: { shared: 2 } },
      { concurrency: { shared: 2, key: ({ what }: Ask) => what } },
      { rateLimit: { limit: 100, per: '1s', burst: 10, key: ({ what }: Ask) => what } },
    ] as const) {
      const of = rates({ ttl: '1m' }, bound)
      const ends: string[] = []
      const store = seen(memory(), (store) => ({
        reply: (replies) => {
          for (const { message } of replies) if (message.type === 'reply') ends.push(message.outcome.kind)
          return store.reply(replies)
        },
      }))
      await using s = await of.start({ store })
      of.service.slow = 200
      of.service.ill = true
      const tasks = [await s.submit(of.quote, { what: 'eur' }), await s.submit(of.quote, { what: 'eur' })]
      while (!ends.includes('failed')) await s.advance(50)
      of.service.ill = false
      await s.advance('2s')
      expect(await Promise.all(tasks.map((task) => task.status()))).toMatchObject([
        { output: 'eur 1' },
        { output: 'eur 1' },
      ])
      expect(of.calls).toHaveLength(2)
      // From there it goes on: it has its seat, and an instant of its rate is waited for where it is.
      expect(ends.slice(ends.indexOf('failed'))).not.toContain('withdrawn')
    }
  })
})
