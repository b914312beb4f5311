import { afterEach, describe, expect, it } from 'vitest'
import type { StoreFactory } from '../../src/index.ts'
import { agent, TransientError, Triarch, workflow } from '../../src/index.ts'

/** Stores of this kind on the same data. */
export interface Shared {
  store: StoreFactory
  dispose(): Promise<void>
}

const PROBES = 2
/** However slow the machine is. */
const PATIENT = { timeout: 60_000 }

/** What two nodes with connections of their own know of one breaker. Real time. */
export function breakerSuite(name: string, make: () => Promise<Shared>): void {
  describe(name, () => {
    const nodes: Triarch[] = []
    let shared: Shared | null = null

    afterEach(async () => {
      for (const node of nodes.splice(0)) await node.stop({ grace: 0 })
      await shared?.dispose()
    })

    it('is one for all nodes: what it lets through while the service is ill, and that nothing is forgotten', async () => {
      const service = { ill: true, calls: 0 }
      const bank = agent('bank', { circuitBreaker: { minimum: 4, open: 100, openMax: 100, probes: PROBES } })
      const charge = bank.action('charge', {
        retry: { attempts: 1_000_000, backoff: { initial: 10, max: 100 } },
        run: () => {
          service.calls++
          if (service.ill) throw new TransientError('ill')
          return service.calls
        },
      })
      const order = workflow('order', { run: (_: null, task) => task.run(charge) })
      const given = await make()
      shared = given
      const start = async () => {
        const node = new Triarch({ store: given.store, workflows: [order], agents: [bank], notices: false })
        await node.start()
        nodes.push(node)
        return node
      }
      const [one, other] = [await start(), await start()]
      const breaker = other.breaker('bank')
      await expect.poll(() => breaker.info().catch(() => null), PATIENT).toMatchObject({ state: 'closed' })
      await breaker.open({ reason: 'maintenance', actor: 'ada' })

      // Each knows it as soon as one of its own steps waits for it.
      const tasks: Awaited<ReturnType<typeof submit>>[] = []
      const submit = (node: Triarch) => node.submit(order, null)
      for (const node of [one, other]) {
        const waits = async () => {
          const task = await submit(node)
          tasks.push(task)
          await expect
            .poll(async () => (await node.task(task.id).explain()).reasons.map(({ code }) => code), PATIENT)
            .not.toContain('moving')
          return (await node.task(task.id).explain()).reasons.some(({ code }) => code === 'breaker')
        }
        await expect.poll(waits, PATIENT).toBe(true)
      }
      const before = service.calls
      for (const node of [one, other]) for (let n = 0; n < 10; n++) tasks.push(await submit(node))
      const open = await Promise.all(tasks.map((task) => task.status()))
      const left = open.filter(({ status }) => status === 'running' || status === 'pending').length
      await expect.poll(async () => (await breaker.info()).waiting, PATIENT).toBe(left)
      expect(service.calls).toBe(before)

      // It is closed too soon: a wave goes out, and from then on only probes do.
      await breaker.close({ reason: 'too soon' })
      const halfOpen = async () => (await breaker.info()).changes.filter(({ to }) => to === 'half-open').length
      await expect.poll(halfOpen, PATIENT).toBeGreaterThanOrEqual(3)
      service.ill = false
      const ill = service.calls - before
      expect(ill).toBeLessThanOrEqual(2 * PROBES + PROBES * (await halfOpen()))
      expect(await Promise.all(tasks.map((task) => task.result({ timeout: '1m' })))).toHaveLength(tasks.length)
      await expect.poll(async () => (await breaker.info()).state, PATIENT).not.toBe('open')
      expect((await one.breakers()).breakers.map((it) => [it.name, it.waiting])).toEqual([['bank', 0]])
    }, 120_000)
  })
}
