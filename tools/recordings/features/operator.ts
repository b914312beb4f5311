import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const shop = agent('shop')
const sell = shop.action('sell', { run: (item: string) => item, undo: () => undefined })
const broken = shop.action('broken', {
  rescue: 'pause',
  run() {
    throw new PermanentError('broken')
  },
})
const order = workflow('order', {
  async run(item: string, task) {
    await task.run(sell, item)
    await task.waitForSignal('go')
    return task.run(sell, `${item} again`)
  },
})
const repair = workflow('repair', {
  async run(_: null, task) {
    await task.run(sell, 'tool')
    return task.run(broken, null)
  },
})
const quick = workflow('quick', { run: async (_: null, task) => task.waitForSignal('go') })

/** What operators do with tasks: pause, resume, skip, cancel with and without undoing, by force, and what comes too late. */
export const operators: Feature = {
  name: 'operator',
  workflows: [order, repair, quick],
  agents: [shop],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(order, 'pen', { id: 'paused' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(order, 'cup', { id: 'cancelled' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(order, 'hat', { id: 'kept' }) },
    { at: 4, do: ({ triarch }) => triarch.submit(order, 'bag', { id: 'forced' }) },
    { at: 5, do: ({ triarch }) => triarch.submit(repair, null, { id: 'skipped' }) },
    { at: 6, do: ({ triarch }) => triarch.submit(quick, null, { id: 'quick' }) },
    { at: 60, do: ({ triarch }) => triarch.tasks.get('paused').pause({ reason: 'lunch' }) },
    { at: 120, do: ({ triarch }) => triarch.tasks.get('paused').signal('go') },
    { at: 180, do: ({ triarch }) => triarch.tasks.get('cancelled').cancel({ reason: 'not wanted' }) },
    { at: 240, do: ({ triarch }) => triarch.tasks.get('kept').cancel({ compensate: false }) },
    { at: 300, do: ({ triarch }) => triarch.tasks.get('forced').cancel({ force: true }) },
    { at: 360, do: ({ triarch }) => triarch.tasks.get('skipped').skip({ step: 2, output: 'by hand' }) },
    // The first is its end, and the second finds nobody who would hear it, or is refused for that.
    {
      at: 420,
      do: ({ triarch }) => Promise.allSettled([1, 2].map(() => triarch.tasks.get('quick').signal('go', 'well'))),
    },
    { at: 600, do: ({ triarch }) => triarch.tasks.get('paused').resume() },
  ],
}
