import { type Agent, agent, type Workflow, workflow } from 'triarch'
import type { Count } from '../subject.ts'

/** Three steps, the second of which may never end. Tried again at once: what is measured is the engine's own time. */
export function interruptible(second: () => unknown): { agent: Agent; workflow: Workflow<Count, Count> } {
  const fragile = agent('fragile', { concurrency: 100_000 })
  const retry = { attempts: 5, backoff: { initial: 0 } }
  const quick = fragile.action('quick', { run: async ({ n }: Count) => ({ n: n + 1 }) })
  const slow = fragile.action('slow', {
    retry,
    attemptWithin: '1h',
    run: async ({ n }: Count) => {
      await second()
      return { n: n + 1 }
    },
  })
  return {
    agent: fragile,
    workflow: workflow('interruptible', {
      async run(input: Count, task) {
        const first = await task.run(quick, input)
        const then = await task.run(slow, first)
        return task.run(quick, then)
      },
    }),
  }
}
