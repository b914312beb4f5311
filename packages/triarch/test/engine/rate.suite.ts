import { afterEach, describe, expect, it } from 'vitest'
import { agent, Triarch, workflow } from '../../src/index.ts'
import type { Shared } from './breaker.suite.ts'

const [LIMIT, BURST, PER] = [100, 10, 1_000]
const TASKS = 150

/** What two nodes with connections of their own begin together, under one rate limit. Real time. */
export function rateSuite(name: string, make: () => Promise<Shared>): void {
  describe(name, () => {
    const nodes: Triarch[] = []
    let shared: Shared | null = null

    afterEach(async () => {
      for (const node of nodes.splice(0)) await node.stop({ grace: 0 })
      await shared?.dispose()
    })

    it('is one for all nodes: in no span do more begin than it says, and nothing is forgotten', async () => {
      const calls: number[] = []
      const bank = agent('bank', { rateLimit: { limit: LIMIT, per: PER, burst: BURST } })
      const charge = bank.action('charge', { run: () => void calls.push(performance.now()) })
      const order = workflow('order', { run: (_: null, task) => task.run(charge) })
      const given = await make()
      shared = given
      for (let n = 0; n < 2; n++) {
        const node = new Triarch({ store: given.store, workflows: [order], agents: [bank], poll: 100 })
        await node.start()
        nodes.push(node)
      }
      const submitted = Array.from({ length: TASKS }, (_, n) => (nodes[n % 2] as Triarch).submit(order, null))
      const tasks = await Promise.all(submitted)
      await Promise.all(tasks.map((task) => task.result({ timeout: '1m' })))
      expect(calls).toHaveLength(TASKS)
      const within = calls.map((from) => calls.filter((at) => at >= from && at < from + PER).length)
      expect(Math.max(...within)).toBeLessThanOrEqual(LIMIT + BURST)
    }, 120_000)
  })
}
