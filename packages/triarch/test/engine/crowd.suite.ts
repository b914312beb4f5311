import { expect, it } from 'vitest'
import { Triarch, type TriarchOptions, workflow } from '../../src/index.ts'
import type { Shared } from './breaker.suite.ts'
import { seen } from './harness.ts'

const flow = workflow('flow', { run: async (n: number) => n + 1 })
const ALL = 10_000
/** Those that end while the test looks on. */
const FIRST = 100

/** A process that waits for many tasks of others. Real time. */
export function crowdSuite(name: string, make: () => Promise<Shared>): void {
  it(`ten thousand results that are waited for cost one subscription, and few looks for all together, on ${name}`, async () => {
    const shared = await make()
    const nodes: Triarch[] = []
    const node = async (options: TriarchOptions) => {
      const made = new Triarch({ workflows: [flow], notices: false, ...options })
      nodes.push(made)
      await made.start()
      return made
    }
    try {
      const subscriptions = new Set<unknown>()
      let looks = 0
      const store = seen(shared.store, (inner) => ({
        watchEnds: (ended) => {
          subscriptions.add(ended)
          return inner.watchEnds?.(ended) ?? false
        },
        taskVersions: (ids) => {
          looks++
          return inner.taskVersions(ids)
        },
      }))
      const client = await node({ store, roles: [] })
      const later = new Date(Date.now() + 86_400_000)
      const entries = Array.from({ length: ALL }, (_, n) => ({ input: n, ...(n >= FIRST && { startAt: later }) }))
      const submitted = await client.submitMany(flow, entries)
      const tasks = submitted.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []))
      expect(tasks).toHaveLength(ALL)
      const over = new AbortController()
      const results = tasks.map((task) => task.result({ signal: over.signal }))
      const all = Promise.allSettled(results)
      await node({ store: shared.store, roles: ['scheduler', 'supervisor'] })
      expect(await Promise.all(results.slice(0, FIRST))).toEqual(Array.from({ length: FIRST }, (_, n) => n + 1))
      over.abort(new Error('enough'))
      expect((await all).filter(({ status }) => status === 'rejected')).toHaveLength(ALL - FIRST)
      expect(subscriptions.size).toBe(1)
      expect(looks).toBeLessThan(ALL / 20)
    } finally {
      for (const made of nodes.reverse()) await made.stop({ grace: 0 })
      await shared.dispose()
    }
  }, 120_000)
}
