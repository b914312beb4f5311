import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { agent, TransientError, Triarch, workflow } from '../../src/index.ts'
import type { Shared } from './breaker.suite.ts'

/** What the service asks for (s), in its header. */
const REST = 3
const TASKS = 10
/** By how much the clock of the store and ours may differ over a rest (ms). */
const ASKEW = 50

/** What two nodes with connections of their own ask of a service that wants to be left alone. Real time, real HTTP. */
export function restSuite(name: string, make: () => Promise<Shared>): void {
  describe(name, () => {
    const nodes: Triarch[] = []
    let shared: Shared | null = null
    const calls: number[] = []
    let refusedAt = 0
    const service = createServer((_, response) => {
      const at = performance.now()
      calls.push(at)
      if (refusedAt > 0) return void response.end('paid')
      refusedAt = at
      response.writeHead(429, { 'retry-after': String(REST) }).end()
    })

    afterEach(async () => {
      service.close()
      for (const node of nodes.splice(0)) await node.stop({ grace: 0 })
      await shared?.dispose()
    })

    it('is left alone by the whole agent on both, for as long as it asked, and then answers all', async () => {
      service.listen(0, '127.0.0.1')
      await once(service, 'listening')
      const { port } = service.address() as AddressInfo
      const given = await make()
      shared = given
      const heard: Promise<void>[] = []
      const started = async () => {
        const bank = agent('bank')
        const ask = async () => {
          const answer = await fetch(`http://127.0.0.1:${port}`)
          if (answer.status === 429)
            throw new TransientError('too many requests', {
              retryAfter: Number(answer.headers.get('retry-after')) * 1_000,
            })
          return answer.text()
        }
        const charge = bank.action('charge', { run: ask })
        const look = bank.action('look', { run: ask })
        const order = workflow('order', { run: (_: null, task) => task.run(charge) })
        const looking = workflow('looking', { run: (_: null, task) => task.run(look) })
        const { promise, resolve } = Promise.withResolvers<void>()
        heard.push(promise)
        const telemetry = { 'agent:rests': () => resolve() }
        const node = new Triarch({
          store: given.store,
          workflows: [order, looking],
          agents: [bank],
          poll: 100,
          telemetry,
        })
        await node.start()
        nodes.push(node)
        return { node, order, looking }
      }
      const [one, other] = [await started(), await started()]
      const first = await one.node.submit(one.order, null)
      await Promise.all(heard)
      const before = calls.length
      const tasks = [first]
      for (let n = 0; n < TASKS; n++)
        for (const { node, order, looking } of [one, other])
          tasks.push(await node.submit(n % 2 ? order : looking, null))
      const reasons = (await Promise.all(tasks.map((task) => task.explain()))).flatMap((it) => it.reasons)
      expect(reasons.some(({ text }) => text.includes('the service of bank asked for a rest'))).toBe(true)
      const results = await Promise.all(tasks.map((task) => task.result({ timeout: '1m' })))
      expect(results).toEqual(tasks.map(() => 'paid'))
      // Only the one that was refused had been asked before: nothing began after, until its time was over.
      expect(before).toBe(1)
      const early = calls.slice(1).filter((at) => at < refusedAt + REST * 1_000 - ASKEW)
      expect(early).toEqual([])
      // The rest was no failure of those who waited for its end.
      const failures = await Promise.all(tasks.slice(1).map(async (task) => (await task.status()).failures))
      expect(failures).toEqual(failures.map(() => 0))
    }, 60_000)
  })
}
