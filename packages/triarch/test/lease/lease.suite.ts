import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { systemEnvironment } from '../../src/environment/system.ts'
import { type Alert, agent, Triarch, type TriarchOptions, workflow } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { errand, errands, served } from './process.ts'

/** Keeps the event loop for itself, as heavy computation does. */
function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const pace = { lease: '1s', sweep: '50ms', poll: '20ms' } as const
/** Of a node that must not be taken for dead: a busy machine, too, has the time to renew it. */
const LONG = { lease: '3s' } as const

export interface LeaseSubject {
  store: StoreFactory
  /** The same, for another process. */
  target: string
  /** The same for one that waits no longer than a second for a lock. */
  hasty: StoreFactory
  /** Keeps others from writing until what it gives is called: by what it holds. */
  holds: Record<string, () => Promise<() => Promise<void>>>
  dispose(): Promise<void>
}

/** What a process that is not in virtual time promises of its lease. `module`: runs a supervisor in another process. */
export function leaseSuite(
  name: string,
  module: string,
  held: readonly string[],
  make: () => Promise<LeaseSubject>,
): void {
  async function watched(
    options: Partial<TriarchOptions>,
    body: (node: {
      triarch: Triarch
      alerts: Alert[]
      holds: LeaseSubject['holds']
      dead(): Promise<string[]>
    }) => Promise<void>,
    subject = make(),
  ) {
    const { store, target, holds, dispose } = await subject
    const alerts: Alert[] = []
    const triarch = new Triarch({ store, ...pace, roles: ['scheduler', 'agent'], onError: () => undefined, ...options })
    triarch.on('alert', (alert) => alerts.push(alert))
    await triarch.open()
    const watching = await served(module, target, { ...pace, roles: ['supervisor'] })
    try {
      await triarch.start()
      await body({ triarch, alerts, holds, dead: () => watching.dead() })
    } finally {
      await triarch.stop()
      await watching.kill()
      await dispose()
    }
  }

  describe(name, () => {
    it('keeps a node alive whose step blocks the event loop for longer than its lease, and names the step', async () => {
      const runs: number[] = []
      const svc = agent('svc')
      const heavy = svc.action('heavy', {
        run: (_: null, step) => {
          runs.push(step.attempt)
          block(4_000)
          return 'done'
        },
      })
      const flow = workflow('flow', { run: (_: null, task) => task.run(heavy, null) })
      await watched({ ...LONG, workflows: [flow], agents: [svc] }, async ({ triarch, alerts, dead }) => {
        const task = await triarch.submit(flow, null, { id: 'blocking' })
        expect(await task.result()).toBe('done')
        expect(runs).toEqual([1])
        expect(await dead()).toEqual([])
        expect(await triarch.statistics.get()).toMatchObject({ fenced: 0 })
        await expect.poll(() => alerts.map(({ message }) => message)).toHaveLength(1)
        expect(alerts).toMatchObject([{ code: 'LOOP_BLOCKED', action: 'svc.heavy', step: 1, task: 'blocking' }])
        const [loop] = (await triarch.health.check({ checks: ['loop'] })).checks
        expect(loop).toMatchObject({ status: 'warning', code: 'loop-blocked' })
        expect(loop?.observed?.blocked).toBeGreaterThanOrEqual(3_000)
      })
    })

    it('keeps a node alive whose listener blocks the event loop for longer than its lease, and costs no step an attempt', async () => {
      const runs: number[] = []
      const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const svc = agent('svc')
      const wait = svc.action('wait', {
        run: async (_: null, step) => {
          runs.push(step.attempt)
          begun.resolve()
          await go.promise
          return 'waited'
        },
      })
      const waiting = workflow('waiting', { run: (_: null, task) => task.run(wait, null) })
      const quick = workflow('quick', { run: async (n: number) => n })
      let blocked = 0
      const telemetry = {
        'task:stopped': ({ task }: { task: string }) => {
          if (task !== 'told') return
          blocked++
          block(4_000)
          // What it promises, nobody waits for.
          return new Promise(() => undefined)
        },
      }
      await watched(
        { ...LONG, workflows: [waiting, quick], agents: [svc], telemetry },
        async ({ triarch, alerts, dead }) => {
          const innocent = await triarch.submit(waiting, null)
          await begun.promise
          const told = await triarch.submit(quick, 1, { id: 'told' })
          expect(await told.result()).toBe(1)
          go.resolve()
          expect(await innocent.result()).toBe('waited')
          expect(await (await triarch.submit(quick, 2)).result()).toBe(2)
          expect([blocked, runs]).toEqual([1, [1]])
          expect(await dead()).toEqual([])
          expect(await triarch.statistics.get()).toMatchObject({ fenced: 0 })
          await expect.poll(() => alerts.map(({ code }) => code)).toEqual(['LOOP_BLOCKED'])
        },
      )
    })

    it.each(held)(
      'costs no attempt while others hold %s for longer than it, and what attempts gave is recorded',
      async (what) => {
        const runs: number[] = []
        const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const svc = agent('svc')
        const wait = svc.action('wait', {
          run: async (_: null, step) => {
            runs.push(step.attempt)
            begun.resolve()
            await go.promise
            return 'waited'
          },
        })
        const waiting = workflow('waiting', { run: (_: null, task) => task.run(wait, null) })
        const subject = await make()
        const options = { ...LONG, store: subject.hasty, workflows: [waiting], agents: [svc] }
        await watched(
          options,
          async ({ triarch, holds, dead }) => {
            const task = await triarch.submit(waiting, null)
            await begun.promise
            const release = await holds[what]?.()
            go.resolve()
            const since = performance.now()
            await expect.poll(() => performance.now() - since, { interval: 100 }).toBeGreaterThan(8_000)
            await release?.()
            expect(await task.result()).toBe('waited')
            expect(runs).toEqual([1])
            const events = (await task.history()).flatMap((record) => record.events)
            expect(events.filter(({ type }) => type === 'attemptFailed')).toEqual([])
            expect(await dead()).toEqual([])
          },
          Promise.resolve(subject),
        )
      },
    )

    it('lets a node go whose event loop stands still beyond the bound, and it starts nothing before it knows', async () => {
      const runs: string[] = []
      const svc = agent('svc')
      const heavy = svc.action('heavy', {
        retry: { attempts: 5 },
        run: (ms: number, step) => {
          runs.push(`${step.taskId} ${step.attempt}`)
          if (step.attempt === 1) block(ms)
          return 'done'
        },
      })
      const flow = workflow('flow', { run: (ms: number, task) => task.run(heavy, ms) })
      const options = { stall: '200ms', workflows: [flow], agents: [svc] } as const
      await watched(options, async ({ triarch, dead }) => {
        const [node] = (await triarch.nodes.list()).filter(({ roles }) => roles.includes('agent'))
        const task = await triarch.submit(flow, 3_500, { id: 'stuck' })
        expect(await task.result()).toBe('done')
        expect(await dead()).toEqual([node?.id])
        expect((await triarch.statistics.get()).fenced).toBeGreaterThan(0)
        // What its attempt gave is handed on, and may come before another one begins.
        expect(runs).toEqual(['stuck 1', 'stuck 2'].slice(0, runs.length))
      })
    })

    it('renews while the wall clock of this process leaps', async () => {
      let leap = 0
      const system = systemEnvironment()
      const environment = { ...system, now: () => system.now() + leap }
      const svc = agent('svc')
      let runs = 0
      const slow = svc.action('slow', {
        semantics: 'at-most-once',
        run: async () => {
          runs++
          leap += 3_600_000
          await new Promise((resolve) => system.timer(2_000, () => resolve(null)))
          leap -= 7_200_000
          await new Promise((resolve) => system.timer(2_000, () => resolve(null)))
          return 'done'
        },
      })
      const flow = workflow('flow', { run: (_: null, task) => task.run(slow, undefined) })
      await watched({ ...LONG, workflows: [flow], agents: [svc], environment }, async ({ triarch, alerts, dead }) => {
        const task = await triarch.submit(flow, null)
        expect(await task.result()).toBe('done')
        expect(runs).toBe(1)
        expect(alerts).toEqual([])
        expect(await dead()).toEqual([])
        expect(await triarch.statistics.get()).toMatchObject({ fenced: 0 })
      })
    })

    it('is over at once when its process is gone: the next one of the machine goes on', async () => {
      const { store, target, dispose } = await make()
      const first = await served(module, target, { lease: '1h' })
      await using triarch = new Triarch({ store, lease: '1h', ...errands, onError: () => undefined })
      const task = await triarch.submit(errand, null, { id: 'errand' })
      await expect.poll(async () => (await triarch.tasks.get('errand').explain()).reasons[0]?.code).toBe('step')
      const [node] = await triarch.nodes.list()
      expect(node?.place).toMatchObject({ pid: first.pid, host: hostname() })
      await first.kill()
      expect(await triarch.nodes.list()).toEqual([])
      const { reasons } = await triarch.tasks.get('errand').explain()
      expect(reasons).toMatchObject([{ code: 'node-lost', node: node?.id }])
      expect(reasons[0]?.text).toContain(`process has died (it was ${first.pid} on ${hostname()})`)
      await triarch.start()
      expect(await task.result()).toBe(process.pid)
      await triarch.stop()
      await dispose()
    })

    it('whose process dies again and again raises an alert, though each process finds its predecessor dead itself', async () => {
      const { store, target, dispose } = await make()
      for (let life = 0; life < 3; life++) {
        const process = await served(module, target, { lease: '1h' })
        await process.kill()
      }
      const alerts = { every: '100ms', rules: { flapping: { least: 3 } } } as const
      await using triarch = new Triarch({ store, lease: '1h', ...errands, alerts, onError: () => undefined })
      await triarch.start()
      const names = async () => (await triarch.alerts.list()).alerts.map(({ name }) => name)
      await expect.poll(names).toContain(`flapping:${hostname()}`)
      await triarch.stop()
      await dispose()
    })

    it('is asked for by a process that stood still, before it starts anything', async () => {
      const { store, target, dispose } = await make()
      await using triarch = new Triarch({ store, ...pace, ...errands, onError: () => undefined })
      const first = await served(module, target, { ...pace, roles: ['scheduler', 'agent'] })
      const task = await triarch.submit(errand, null, { id: 'errand' })
      await expect.poll(async () => (await triarch.tasks.get('errand').explain()).reasons[0]?.code).toBe('step')
      const [frozen] = await triarch.nodes.list()
      first.signal('SIGSTOP')
      await triarch.start()
      expect(await task.result()).toBe(process.pid)
      first.signal('SIGCONT')
      await expect
        .poll(async () =>
          (await triarch.nodes.list()).filter(({ place }) => place?.pid === first.pid).map(({ id }) => id),
        )
        .toEqual([expect.not.stringMatching(frozen?.id ?? '')])
      await first.kill()
      await triarch.stop()
      await dispose()
    })
  })
}
