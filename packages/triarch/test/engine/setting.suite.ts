import { afterEach, describe, expect, it } from 'vitest'
import {
  type ActionPolicy,
  type AgentPolicy,
  agent,
  type BackoffOptions,
  type ConcurrencyOptions,
  type EnginePolicy,
  type FairTask,
  type RateLimitOptions,
  type SchedulesPolicy,
  type StandardSchema,
  type StepContext,
  setting,
  type TaskHandle,
  Triarch,
  type TriarchOptions,
  type WorkflowPolicy,
  workflow,
} from '../../src/index.ts'
import type { Shared } from './breaker.suite.ts'

const schema: StandardSchema<{ n: number }, { n: number }> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as { n: number } }) },
}
const why = { reason: 'a test', actor: 'ada' }

/** Values of each key, one after the other: what can be changed and is missing here does not compile. */
type Every<P> = { readonly [K in keyof Required<P>]: readonly [Required<P>[K], ...Required<P>[K][]] }
type All<P, Not extends string = never> = Omit<Required<NonNullable<P>>, Not>

const breaker: All<AgentPolicy['circuitBreaker']> = {
  ...{ failureRate: 0.4, slowRate: 0.9, slowerThan: '10s', minimum: 50, open: '1s', openMax: '2s', probes: 5 },
  ...{ window: '5s', whenOpen: 'fail' },
}
const retry: All<ActionPolicy['retry']> = {
  attempts: 9,
  backoff: { initial: '10ms', factor: 3, max: '1s', jitter: false } satisfies All<BackoffOptions>,
}
const rateLimit: All<RateLimitOptions, 'key'> = { limit: 5_000, per: '1s', burst: 600 }
const concurrency: All<ConcurrencyOptions, 'key'> = { shared: 5, each: 4, adaptive: { least: 2 } }
const action: Every<ActionPolicy> = {
  ...{ concurrency: [3, { shared: 5, each: 4 }], rateLimit: [rateLimit], priority: [3, -3] },
  ...{ attemptWithin: ['20s'], stepWithin: ['50s', null], heartbeatWithin: ['20s', null], retry: [retry] },
  undoRetry: [retry],
}
const ofAction: All<ActionPolicy> = {
  ...{ concurrency: { shared: 5, each: 4 }, rateLimit, priority: 7, attemptWithin: '20s', stepWithin: '50s' },
  ...{ heartbeatWithin: '20s', retry, undoRetry: retry },
}
const ofAgent: Every<AgentPolicy> = {
  ...action,
  ...{ concurrency: [1, 50, concurrency], circuitBreaker: [breaker], weights: [{ gold: 9 }, { gold: 0.1, rest: 5 }] },
  ...{ paused: ['a moment'], actions: [{ charge: ofAction }] },
}
const ofWorkflow: Every<WorkflowPolicy> = { paused: ['a moment'], closed: ['a moment'] }
const ofEngine: Every<EnginePolicy> = {
  ...{ closed: ['a moment'], retention: ['1d', { success: '1d' }], logLevel: ['debug', 'silent'] },
  ...{ sweep: ['200ms', '3s'], lease: ['4s', '30s'], weights: [{ gold: 5 }] },
}
const ofSchedules: Every<SchedulesPolicy> = { paused: [{ '*': 'a moment' }] }
/** By the names of the engine's own settings. */
const everything = {
  ...{ 'agent.bank': ofAgent, 'workflow.order': ofWorkflow, engine: ofEngine, schedules: ofSchedules },
}

/** Attempts that last until they are told to end. One whose signal fires was hurt. */
function attempts() {
  const inside = new Map<string, () => void>()
  let news = () => {}
  return {
    enter(id: string, signal: AbortSignal): Promise<void> {
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        inside.set(id, resolve)
        news()
      })
    },
    begun(ids: readonly string[]): Promise<void> {
      return new Promise((resolve) => {
        news = () => (ids.every((id) => inside.has(id)) ? resolve() : undefined)
        news()
      })
    },
    end(prefix: string): void {
      for (const [id, done] of inside) if (id.startsWith(prefix)) done()
    },
  }
}

/** Settings that several nodes with connections of their own share. Real time. */
export function settingSuite(name: string, make: () => Promise<Shared>): void {
  describe(name, () => {
    const nodes: Triarch[] = []
    let shared: Shared | null = null

    afterEach(async () => {
      for (const node of nodes.splice(0)) await node.stop({ grace: 0 })
      await shared?.dispose()
    })

    /** A node of its own, with the setting as it has it, and whoever waits for it to be another. */
    async function begin(store: TriarchOptions['store'], options: Partial<TriarchOptions> = {}) {
      const limits = setting('shop.limits', schema, { n: 0 })
      let told = () => {}
      const runs = new Map<string, number>()
      const telemetry = {
        setting({ setting: name, version }: { setting: string; version: number }) {
          runs.set(name, version)
          told()
        },
      }
      const node = new Triarch({ store, settings: [limits], telemetry, ...options })
      nodes.push(node)
      await node.start()
      const becomes = (n: number) =>
        new Promise<void>((resolve) => {
          told = () => (limits.value.n === n ? resolve() : undefined)
          told()
        })
      const reaches = (name: string, version: number) =>
        new Promise<void>((resolve) => {
          told = () => (runs.get(name) === version ? resolve() : undefined)
          told()
        })
      return { node, limits, becomes, reaches }
    }

    it('reach every node without a restart, and one that comes later has them before it begins', async () => {
      shared = await make()
      const [one, two] = [await begin(shared.store), await begin(shared.store)]
      for (let n = 1; n <= 5; n++) {
        await one.node.settings.get(one.limits).set({ n }, why)
        await two.becomes(n)
      }
      const later = await begin(shared.store)
      expect(later.limits.value).toEqual({ n: 5 })
    }, 60_000)

    it('make the leases of nodes longer and shorter while they live, whoever renews them', async () => {
      shared = await make()
      let renewed = (_: boolean) => {}
      const telemetry = { 'lease:renewed': ({ thread }: { thread: boolean }) => renewed(thread) }
      const node = new Triarch({ store: shared.store, telemetry })
      nodes.push(node)
      const alerts: string[] = []
      node.on('alert', ({ code }) => void alerts.push(code))
      await node.start()
      const engine = node.settings.get('triarch.engine')
      // Its row says how long it is granted: whoever watches goes by that.
      const granted = async (fits: (left: number) => boolean) => {
        for (let left = Number.NaN; !fits(left); ) {
          await new Promise<void>((resolve) => {
            renewed = (thread) => (thread ? resolve() : undefined)
          })
          const [row] = await node.nodes.list()
          left = row ? row.leaseUntil.getTime() - Date.now() : 0
        }
      }
      await engine.set({ lease: '10m' }, why)
      await granted((left) => left > 500_000)
      await engine.set({ lease: '3s' }, why)
      // It goes on being renewed by the new pace.
      for (let n = 0; n < 3; n++) await granted((left) => left < 4_000)
      expect(alerts).toEqual([])
    }, 60_000)

    it('begin on the nodes of a share or of a label, go on by hand, and come back at once', async () => {
      shared = await make()
      const all: Awaited<ReturnType<typeof begin>>[] = []
      for (const zone of ['eu', 'eu', 'us']) all.push(await begin(shared.store, { labels: { zone } }))
      const [one, two, three] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]]
      const handle = one.node.settings.get(one.limits)
      await handle.set({ n: 1 }, why)
      for (const { becomes } of all) await becomes(1)
      const stages = [{ labels: { zone: 'us' } }, { share: 0.5 }]
      const tried = await handle.set({ n: 2 }, { ...why, stages })
      expect(tried).toMatchObject({ live: { value: { n: 1 } }, trial: { value: { n: 2 }, stage: 1, stages: 2 } })
      await three.becomes(2)
      expect([one.limits.value.n, two.limits.value.n]).toEqual([1, 1])
      const { trial, nodes: seen } = await handle.advance(why)
      expect(trial).toMatchObject({ stage: 2 })
      expect(seen.filter(({ expected }) => expected === trial?.version)).toHaveLength(2)
      await handle.rollback(why)
      for (const { becomes } of all) await becomes(1)
      await handle.set({ n: 3 }, { ...why, stages: [{ share: 0.1 }] })
      expect((await handle.advance({ ...why, all: true })).trial).toBeUndefined()
      for (const { becomes } of all) await becomes(3)
      const { changes } = await handle.history()
      expect(changes.map(({ move }) => move)).toEqual(['completed', 'staged', 'withdrawn', 'advanced', 'staged', 'set'])
    }, 60_000)

    it('are taken back by themselves where attempts fail, and go on by themselves where nothing is wrong', async () => {
      shared = await make()
      const told = Promise.withResolvers<void>()
      const bank = agent('bank')
      const charge = bank.action('charge', {
        retry: { attempts: 1 },
        run: () => {
          throw new Error('ill')
        },
      })
      const order = workflow('order', { run: (_: null, task) => task.run(charge, undefined, { rescue: 'skip' }) })
      const one = await begin(shared.store, { workflows: [order], agents: [bank] })
      one.node.on('alert', ({ code }) => code === 'SETTING_ROLLED_BACK' && told.resolve())
      const guards = [{ metric: 'failure-rate', agent: 'bank', above: 0.5, minimum: 3 } as const]
      const handle = one.node.settings.get(one.limits)
      await handle.set({ n: 1 }, { ...why, stages: [{ share: 1, lasts: '10m' }], guards })
      await one.becomes(1)
      let over = false
      const back = one.becomes(0).then(() => {
        over = true
      })
      while (!over) await (await one.node.submit(order, null)).result()
      await back
      // Whoever sets a value back says so once that is kept: the value may be heard of before.
      await told.promise
      const [last] = (await handle.history({ limit: 1 })).changes
      expect(last).toMatchObject({ move: 'withdrawn', actor: expect.stringContaining('node:') })
      expect(last?.reason).toContain('attempts of agent bank failed, above 50 %')
      await handle.set({ n: 2 }, { ...why, stages: [{ share: 1, lasts: 1 }] })
      await one.becomes(2)
      for (;;) if ((await handle.info()).trial === undefined) break
      expect((await handle.history({ limit: 1 })).changes).toMatchObject([
        { move: 'completed', reason: 'its time is over' },
      ])
    }, 60_000)

    it('are taken back by themselves where work waits for longer than it may', async () => {
      shared = await make()
      const charge = agent('bank').action('charge', { run: async () => null })
      const order = workflow('order', { run: (_: null, task) => task.run(charge) })
      // Nobody has the agent, so what is asked of it waits.
      const one = await begin(shared.store, { workflows: [order] })
      await one.node.submit(order, null)
      const handle = one.node.settings.get(one.limits)
      const guards = [{ metric: 'queue-age', agent: 'bank', above: 10 } as const]
      await handle.set({ n: 1 }, { ...why, stages: [{ share: 1 }], guards })
      await one.becomes(1)
      await one.becomes(0)
      // Whoever reads may see the value before what is written of its change.
      const moves = async () => (await handle.history()).changes.map(({ move }) => move)
      await expect.poll(moves).toEqual(['withdrawn', 'staged'])
      const { changes } = await handle.history()
      expect(changes[0]?.reason).toMatch(/^work has waited for agent bank for \d+ ms, above 10 ms$/)
    }, 60_000)

    it.each(Object.entries(everything))(
      'hurt nothing that is under way, whatever of %s is changed under load',
      async (of, keys) => {
        shared = await make()
        const runs = new Map<string, number>()
        const fairness = { key: ({ tags }: FairTask) => tags.of ?? '' }
        const limit = { limit: 10_000, per: '1s' } as const
        const bank = agent('bank', {
          concurrency: 8,
          ...(of === 'agent.bank' && { fairness }),
        })
        const count = (id: string) => void runs.set(id, (runs.get(id) ?? 0) + 1)
        const charge = bank.action('charge', { ...(of === 'agent.bank' && { rateLimit: limit }), run: count })
        const underWay = attempts()
        const long = (id: string, { signal }: StepContext) => {
          count(id)
          return underWay.enter(id, signal)
        }
        const depot = agent('depot')
        const [reserve, ship] = [bank.action('reserve', { run: long }), depot.action('ship', { run: long })]
        const order = workflow('order', {
          async run(id: string, task) {
            if (id.startsWith('long')) {
              const local = (step: StepContext) => long(`${id}:2`, step)
              await Promise.all([task.run(reserve, `${id}:0`), task.run(ship, `${id}:1`), task.run('local', local)])
            } else for (let n = 0; n < 3; n++) await task.run(charge, `${id}:${n}`)
            return id
          },
        })
        const workload = { workflows: [order], agents: [bank, depot], poll: 20, fairness }
        const all = [await begin(shared.store, workload), await begin(shared.store, workload)]
        const alerts: string[] = []
        for (const { node } of all) node.on('alert', ({ code }) => void alerts.push(code))
        const { node } = all[0] as (typeof all)[0]
        const tasks = new Map<string, TaskHandle<string>>()
        const submit = async (id: string, tags = {}) => void tasks.set(id, await node.submit(order, id, { tags }))
        /** Three attempts that are under way before it resolves. */
        const hold = async (id: string) => {
          await submit(`long ${id}`)
          await underWay.begun([0, 1, 2].map((n) => `long ${id}:${n}`))
        }
        let refused = 0
        const load = async () => {
          for (const of of ['gold', 'rest'])
            try {
              await submit(`${tasks.size}`, { of })
            } catch (error) {
              expect(error).toMatchObject({ code: 'SUBMISSIONS_PAUSED' })
              refused++
            }
        }
        const handle = node.settings.get<Record<string, unknown>>(`triarch.${of}`)
        await hold('throughout')
        for (const [key, values] of Object.entries(keys)) {
          await hold(key)
          for (const value of [...values, null]) {
            await load()
            const { live } = await handle.change({ [key]: value }, why)
            await Promise.all(all.map(({ reaches }) => reaches(`triarch.${of}`, live?.version ?? 0)))
            await load()
          }
          underWay.end(`long ${key}:`)
        }
        underWay.end('long throughout:')
        for (const [id, task] of tasks) expect(await task.result({ timeout: '1m' })).toBe(id)
        expect(refused > 0).toBe('closed' in keys)
        expect(runs.size).toBe(tasks.size * 3)
        expect([...runs.values()].filter((times) => times !== 1)).toEqual([])
        for (const task of tasks.values()) {
          const events = (await task.history()).flatMap((entry) => entry.events)
          expect(events.filter(({ type }) => type === 'attemptFailed')).toEqual([])
        }
        expect(alerts).toEqual([])
        await handle.clear(why)
      },
      60_000,
    )
  })
}
