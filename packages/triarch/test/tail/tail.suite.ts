import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type Alert,
  agent,
  type Role,
  type TaskHandle,
  TransientError,
  Triarch,
  type TriarchOptions,
  workflow,
} from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'

/** A store that can be brought back to what it was. */
export interface Rewindable {
  store: () => StoreFactory
  /** Remembers what there is. */
  save: () => Promise<void>
  /** Everything is again as it was, under the nodes that use it. */
  restore: () => Promise<void>
  dispose: () => Promise<void>
}

/** What the engine guarantees when a store loses what it had acknowledged, and nodes live through it. */
export function tailSuite(name: string, make: () => Promise<Rewindable>): void {
  describe(`a lost tail of ${name}`, { timeout: 120_000 }, () => {
    let subject: Rewindable
    let ran: string[]
    const nodes: Triarch[] = []
    const alerts: Alert[] = []
    const shop = agent('shop', { concurrency: 50 })
    const policy = { retry: { attempts: 9, backoff: { initial: 10, max: 20 } }, attemptWithin: 10_000 }
    const buy = shop.action('buy', {
      ...policy,
      run(item: string, step) {
        ran.push(step.idempotencyKey)
        return item
      },
    })
    const once = shop.action('once', {
      ...policy,
      semantics: 'at-most-once',
      rescue: 'pause',
      async run(item: string, step) {
        ran.push(step.idempotencyKey)
        await pause(item === 'slow' ? 60_000 : 0, undefined, { signal: step.signal })
        return item
      },
    })
    const steps = workflow('steps', {
      async run(size: number, task) {
        for (let n = 0; n < size; n++) {
          await task.waitForSignal('go')
          await task.run(buy, `${n}`)
        }
        return size
      },
    })
    /** Not in the nodes that run only tasks. */
    const remote = agent('remote', { concurrency: 50 })
    const held = new Promise<void>(() => undefined)
    const ship = remote.action('ship', {
      retry: { attempts: 9, backoff: { initial: 10, max: 20 } },
      attemptWithin: '10m',
      async run(item: string, step) {
        ran.push(step.idempotencyKey)
        // As long as a busy machine may take to save; a task that waits 5 s or longer leaves memory at once.
        if (step.attempt === 1) throw new TransientError('not now', { retryAfter: 4_000 })
        if (step.attempt === 2) await held
        return item
      },
    })
    const ships = workflow('ships', { run: (item: string, task) => task.run(ship, item) })
    const careful = workflow('careful', { run: async (item: string, task) => task.run(once, item) })
    const start = async (part: Partial<TriarchOptions> = {}) => {
      const node = new Triarch({
        store: subject.store(),
        agents: [shop],
        workflows: [steps, careful],
        lease: 600,
        sweep: 100,
        poll: 10,
        onError: () => undefined,
        ...part,
      })
      node.on('alert', (alert) => alerts.push(alert))
      nodes.push(node)
      await node.start()
      return node
    }
    /**
     * A node that looks back as often as one of short leases. It has got a long one by now: who is taken for dead, because this machine
     * was busy between what is saved and what is restored, has forgotten what it knew.
     */
    const lasting = async (part: Partial<TriarchOptions> = {}) => {
      const node = await start(part)
      await node.settings.get('triarch.engine').set({ lease: '10m' }, { reason: 'a busy machine' })
      await vi.waitFor(async () => {
        const long = (await node.nodes.list()).filter(({ leaseUntil }) => leaseUntil.getTime() > Date.now() + 300_000)
        expect(long).toHaveLength(nodes.length)
      }, 30_000)
      return node
    }
    beforeEach(async () => {
      ran = []
      alerts.length = 0
      subject = await make()
    })
    afterEach(async () => {
      await Promise.all(nodes.splice(0).map((node) => node.stop({ grace: 0 })))
      await subject.dispose()
    })

    it('leaves no gap: each task goes on from what is left, and what was lost is said', async () => {
      const [one, two] = [await lasting(), await lasting()]
      const tasks = await Promise.all([one, two, one, two].map((node, n) => node.submit(steps, 3, { id: `t-${n}` })))
      const go = (task: TaskHandle) => task.signal('go')
      await Promise.all(tasks.map(go))
      await Promise.all(tasks.map((task) => waits(task, 1)))
      await subject.save()
      await Promise.all(tasks.map(go))
      await Promise.all(tasks.map((task) => waits(task, 2)))
      await subject.restore()
      for (let n = 0; n < 2; n++) await Promise.all(tasks.map(go))
      for (const task of tasks) expect(await task.result({ timeout: '1m' })).toBe(3)
      for (const task of tasks) {
        const seqs = (await task.history()).map(({ seq }) => seq)
        expect(seqs).toEqual(seqs.map((_, index) => index + 1))
      }
      expect(alerts.filter(({ code }) => code === 'LOST_TAIL')).toContainEqual(
        expect.objectContaining({ task: 't-0', message: expect.stringMatching(/lost records? \d+/) }),
      )
    })

    it('is noticed by a node that has nothing to do any more: what it had finished is begun again', async () => {
      const node = await lasting()
      const task = await node.submit(steps, 1, { id: 'finished' })
      await waits(task, 0)
      await subject.save()
      await task.signal('go')
      expect(await task.result()).toBe(1)
      await subject.restore()
      expect((await task.status()).status).toBe('running')
      await vi.waitFor(() => expect(alerts).toContainEqual(expect.objectContaining({ code: 'LOST_TAIL' })), 60_000)
      await task.signal('go')
      expect(await task.result({ timeout: '1m' })).toBe(1)
      expect(new Set(ran).size).toBe(1)
    })

    it('never runs a step again that must not be, when its outcome is what was lost', async () => {
      const node = await lasting()
      const task = await node.submit(careful, 'slow', { id: 'careful' })
      await vi.waitFor(() => expect(ran).toHaveLength(1))
      await subject.save()
      const other = await node.submit(steps, 1, { id: 'other' })
      await waits(other, 0)
      await subject.restore()
      await vi.waitFor(async () => expect((await task.status()).status).toBe('paused'), 60_000)
      expect(ran).toHaveLength(1)
      expect(alerts).toContainEqual(
        expect.objectContaining({
          task: 'other',
          code: 'LOST_TAIL',
          cause: 'lost-tail',
          message: expect.stringContaining('the store lost the task'),
        }),
      )
    })

    it('leaves no task waiting for a reply to a request that was lost, where it left memory before that was noticed', async () => {
      const roles: Role[] = ['scheduler', 'supervisor']
      const node = await lasting({ agents: [], workflows: [ships, steps], roles, limits: { tasks: 2 } })
      await lasting({ agents: [remote], workflows: [], roles: ['agent'] })
      const task = await node.submit(ships, 'parcel', { id: 'parcel' })
      const failed = async () => {
        const events = (await task.history()).flatMap((record) => record.events)
        expect(events.at(-1)?.type).toBe('attemptFailed')
      }
      await vi.waitFor(failed, 60_000)
      await subject.save()
      // The request of the second attempt is in no record of the task.
      await vi.waitFor(() => expect(ran).toHaveLength(2), 60_000)
      await subject.restore()
      await Promise.all(['a', 'b'].map((id) => node.submit(steps, 1, { id })))
      expect(await task.result({ timeout: '1m' })).toBe('parcel')
      expect(alerts).toContainEqual(expect.objectContaining({ task: 'parcel', code: 'LOST_TAIL' }))
    })

    it('leaves no task waiting for a reply to a request that was lost, where its node stops in order before that was noticed', async () => {
      const roles: Role[] = ['scheduler', 'supervisor']
      const node = await lasting({ agents: [], workflows: [ships], roles })
      await lasting({ agents: [remote], workflows: [], roles: ['agent'] })
      const task = await node.submit(ships, 'parcel', { id: 'parcel' })
      await vi.waitFor(async () => {
        const events = (await task.history()).flatMap((record) => record.events)
        expect(events.at(-1)?.type).toBe('attemptFailed')
      }, 60_000)
      await subject.save()
      await vi.waitFor(() => expect(ran).toHaveLength(2), 60_000)
      await subject.restore()
      await node.stop()
      const next = await start({ agents: [], workflows: [ships], roles })
      expect(await next.tasks.get('parcel', ships).result({ timeout: '1m' })).toBe('parcel')
    })

    /** Until the task has done so many steps and waits for a signal again. */
    async function waits(task: TaskHandle, done: number): Promise<void> {
      await vi.waitFor(async () => {
        const history = (await task.history()).flatMap(({ events }) => events)
        expect(history.filter(({ type }) => type === 'stepCompleted')).toHaveLength(done)
        expect(history.at(-1)?.type).toBe('waitStarted')
      }, 60_000)
    }
  })
}
