import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { StoreFactory } from '../../src/index.ts'
import { agent, TransientError, Triarch, workflow } from '../../src/index.ts'

/** Stores of this kind on the same data. */
export interface Shared {
  store: StoreFactory
  dispose(): Promise<void>
}

const PROBES = 2
/** Steps that wait for a service. */
const PARKED = 300
/** However slow the machine is. */
const PATIENT = { timeout: 60_000 }

/** A service over HTTP that is ill until it is well, and keeps a ledger of what it sees since. */
async function serving() {
  const ledger = { answered: 0, busiest: 0, soon: 0 }
  const state = { ill: true, busy: 0 }
  const server = createServer((_, response) => {
    if (state.ill) return void response.writeHead(503).end()
    state.busy++
    ledger.busiest = Math.max(ledger.busiest, state.busy)
    if (state.busy > ledger.answered + PROBES) ledger.soon++
    setTimeout(() => {
      state.busy--
      ledger.answered++
      response.end()
    }, 5)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    ...{ ledger, state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

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
      const breaker = other.breakers.get('bank')
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
            .poll(async () => (await node.tasks.get(task.id).explain()).reasons.map(({ code }) => code), PATIENT)
            .not.toContain('moving')
          return (await node.tasks.get(task.id).explain()).reasons.some(({ code }) => code === 'breaker')
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
      expect((await one.breakers.list()).breakers.map((it) => [it.name, it.waiting])).toEqual([['bank', 0]])
    }, 120_000)

    it('lets what waited on all nodes go in waves: the ledger of a service over HTTP has no more under way than it had answered before', async () => {
      await using service = await serving()
      const bank = agent('bank', { circuitBreaker: { minimum: 4, open: 100, openMax: 100, probes: PROBES } })
      const charge = bank.action('charge', {
        retry: { attempts: 1_000_000, backoff: { initial: 10, max: 100 } },
        async run() {
          const answer = await fetch(service.url)
          await answer.arrayBuffer()
          if (!answer.ok) throw new TransientError(`the service said ${answer.status}`)
        },
      })
      const order = workflow('order', { run: (_: null, task) => task.run(charge) })
      const given = await make()
      shared = given
      for (let n = 0; n < 2; n++) {
        const node = new Triarch({ store: given.store, workflows: [order], agents: [bank], notices: false })
        await node.start()
        nodes.push(node)
      }
      const entries = Array.from({ length: PARKED / nodes.length }, () => ({ input: null }))
      const results = (await Promise.all(nodes.map((node) => node.submitMany(order, entries)))).flat()
      const tasks = results.map((it) => (it.status === 'fulfilled' ? it.value : expect.fail(String(it.reason))))
      const [one] = nodes
      await expect.poll(async () => (await one?.breakers.get('bank').info())?.waiting, PATIENT).toBe(PARKED)
      service.state.ill = false
      await Promise.all(tasks.map((task) => task.result({ timeout: '2m' })))
      expect(service.ledger).toMatchObject({ answered: PARKED, soon: 0 })
      // They grew: one by one they would have been no waves.
      expect(service.ledger.busiest).toBeGreaterThan(PARKED / 10)
    }, 120_000)
  })
}
