import { afterEach, describe, expect, it } from 'vitest'
import {
  agent,
  type StandardSchema,
  setting,
  type TaskHandle,
  Triarch,
  type TriarchOptions,
  workflow,
} from '../../src/index.ts'
import type { Shared } from './breaker.suite.ts'

const schema: StandardSchema<{ n: number }, { n: number }> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as { n: number } }) },
}
const why = { reason: 'a test', actor: 'ada' }

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
      const telemetry = { setting: () => told() }
      const node = new Triarch({ store, settings: [limits], telemetry, ...options })
      nodes.push(node)
      await node.start()
      const becomes = (n: number) =>
        new Promise<void>((resolve) => {
          told = () => (limits.value.n === n ? resolve() : undefined)
          told()
        })
      return { node, limits, becomes }
    }

    it('reach every node without a restart, and one that comes later has them before it begins', async () => {
      shared = await make()
      const [one, two] = [await begin(shared.store), await begin(shared.store)]
      for (let n = 1; n <= 5; n++) {
        await one.node.setting(one.limits).set({ n }, why)
        await two.becomes(n)
      }
      const later = await begin(shared.store)
      expect(later.limits.value).toEqual({ n: 5 })
    }, 60_000)

    it('begin on the nodes of a share or of a label, go on by hand, and come back at once', async () => {
      shared = await make()
      const all: Awaited<ReturnType<typeof begin>>[] = []
      for (const zone of ['eu', 'eu', 'us']) all.push(await begin(shared.store, { labels: { zone } }))
      const [one, two, three] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]]
      const handle = one.node.setting(one.limits)
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
      const handle = one.node.setting(one.limits)
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
      for (;;) if ((await handle.get()).trial === undefined) break
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
      const handle = one.node.setting(one.limits)
      const guards = [{ metric: 'queue-age', agent: 'bank', above: 10 } as const]
      await handle.set({ n: 1 }, { ...why, stages: [{ share: 1 }], guards })
      await one.becomes(1)
      await one.becomes(0)
      const { changes } = await handle.history()
      expect(changes.map(({ move }) => move)).toEqual(['withdrawn', 'staged'])
      expect(changes[0]?.reason).toMatch(/^work has waited for agent bank for \d+ ms, above 10 ms$/)
    }, 60_000)

    it('hurt nothing that is under way, whatever is changed under load', async () => {
      shared = await make()
      const runs = new Map<string, number>()
      const bank = agent('bank', { concurrency: 8, circuitBreaker: {} })
      const charge = bank.action('charge', { run: (id: string) => void runs.set(id, (runs.get(id) ?? 0) + 1) })
      const order = workflow('order', {
        async run(id: string, task) {
          for (let n = 0; n < 3; n++) await task.run(charge, `${id}:${n}`)
          return id
        },
      })
      const workload = { workflows: [order], agents: [bank], poll: 20 }
      const [one] = [await begin(shared.store, workload), await begin(shared.store, workload)]
      const { node } = one
      const words: [string, object][] = [
        ['agent.bank', { concurrency: 1 }],
        ['agent.bank', { paused: 'a moment' }],
        ['workflow.order', { paused: 'a moment' }],
        ['agent.bank', { concurrency: 50, priority: 3, attemptWithin: '20s', retry: { attempts: 9 } }],
        ['workflow.order', {}],
        ['agent.bank', { circuitBreaker: { minimum: 5, open: '1s' } }],
        ['engine', { sweep: '200ms', retention: '1d' }],
        ['agent.bank', { actions: { charge: { concurrency: 3 } } }],
        ['schedules', { paused: { '*': 'a moment' } }],
        ['agent.bank', {}],
      ]
      const tasks: TaskHandle<string>[] = []
      for (const [of, value] of words) {
        for (let n = 0; n < 5; n++) tasks.push(await node.submit(order, `${tasks.length}`))
        await node.setting(`triarch.${of}`).set(value, why)
      }
      for (const [index, task] of tasks.entries()) expect(await task.result({ timeout: '1m' })).toBe(`${index}`)
      expect(runs.size).toBe(tasks.length * 3)
      expect([...runs.values()].filter((times) => times !== 1)).toEqual([])
      for (const task of tasks) {
        const events = (await task.history()).flatMap((entry) => entry.events)
        expect(events.filter(({ type }) => type === 'attemptFailed')).toEqual([])
      }
      await node.setting('triarch.agent.bank').clear(why)
    }, 60_000)
  })
}
