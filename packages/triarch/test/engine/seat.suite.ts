import { afterEach, describe, expect, it } from 'vitest'
import { agent, Triarch, workflow } from '../../src/index.ts'
import type { Shared } from './breaker.suite.ts'

const [SHARED, TASKS] = [4, 40]

/** What two nodes with connections of their own run together, under one bound. Real time. */
export function seatSuite(name: string, make: () => Promise<Shared>): void {
  describe(name, () => {
    const nodes: Triarch[] = []
    let shared: Shared | null = null

    afterEach(async () => {
      for (const node of nodes.splice(0)) await node.stop({ grace: 0 })
      await shared?.dispose()
    })

    it('is one for all nodes: never more run at a time, and nothing is forgotten', async () => {
      let [running, most, calls] = [0, 0, 0]
      const bank = agent('bank', { concurrency: { shared: SHARED } })
      const charge = bank.action('charge', {
        run: async () => {
          most = Math.max(most, ++running)
          calls++
          await new Promise((resolve) => setTimeout(resolve, 5))
          running--
        },
      })
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
      expect(calls).toBe(TASKS)
      expect(most).toBe(SHARED)
    }, 120_000)
  })
}
