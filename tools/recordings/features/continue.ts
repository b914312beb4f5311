import { agent, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const meter = agent('meter')
const count = meter.action('count', { run: (n: number) => n + 1 })
const counter = workflow('counter', {
  async run(n: number, task) {
    const next = await task.run(count, n)
    if (next < 3) return task.continueAsNew(next)
    return { next, heard: await task.waitForSignal('word') }
  },
})

/** A task that begins anew, and takes along what nobody has heard yet. */
export const continuations: Feature = {
  name: 'continue',
  workflows: [counter],
  agents: [meter],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(counter, 0, { id: 'counter', startAt: '5m' }) },
    { at: 60, do: ({ triarch }) => triarch.tasks.get('counter').signal('word', 'hello') },
  ],
}
