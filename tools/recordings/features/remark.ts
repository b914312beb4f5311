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
const hold = shop.action('await', { run: (_: null, step) => step.received?.payload ?? step.suspend() })
const order = workflow('order', {
  async run(item: string, task) {
    await task.run(sell, item)
    return task.waitForSignal('go')
  },
})
const repair = workflow('repair', {
  async run(_: null, task) {
    await task.run(sell, 'tool')
    return task.run(broken, null)
  },
})
const suspended = workflow('suspended', { run: (_: null, task) => task.run(hold, null) })

const why = { reason: 'the bank is back', actor: 'ada' }

/** Who asked for it, and why: with everything that can be asked of a task, also where nothing comes of it. */
export const remarks: Feature = {
  name: 'remark',
  workflows: [order, repair, suspended],
  agents: [shop],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(order, 'pen', { id: 'paused' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(order, 'cup', { id: 'cancelled' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(order, 'hat', { id: 'forced' }) },
    { at: 4, do: ({ triarch }) => triarch.submit(repair, null, { id: 'retried' }) },
    { at: 5, do: ({ triarch }) => triarch.submit(repair, null, { id: 'skipped' }) },
    { at: 6, do: ({ triarch }) => triarch.submit(order, 'ice', { id: 'frozen', frozen: true }) },
    { at: 7, do: ({ triarch }) => triarch.submit(suspended, null, { id: 'suspended' }) },
    { at: 60, do: ({ triarch }) => triarch.tasks.get('paused').pause(why) },
    { at: 61, do: ({ triarch }) => triarch.tasks.get('paused').pause({ actor: 'bob' }) },
    { at: 120, do: ({ triarch }) => triarch.tasks.get('paused').resume(why) },
    {
      at: 121,
      do: ({ triarch }) =>
        triarch.tasks
          .get('paused')
          .skip({ step: 9, ...why })
          .catch(() => undefined),
    },
    { at: 180, do: ({ triarch }) => triarch.tasks.get('paused').signal('go', 1, why) },
    { at: 240, do: ({ triarch }) => triarch.tasks.get('paused').compensate(why) },
    { at: 300, do: ({ triarch }) => triarch.tasks.get('paused').retry(why) },
    { at: 360, do: ({ triarch }) => triarch.tasks.get('cancelled').cancel(why) },
    { at: 420, do: ({ triarch }) => triarch.tasks.get('cancelled').retry({ actor: 'bob' }) },
    { at: 480, do: ({ triarch }) => triarch.tasks.get('forced').cancel({ force: true, ...why }) },
    { at: 540, do: ({ triarch }) => triarch.tasks.get('forced').retry(why) },
    { at: 600, do: ({ triarch }) => triarch.tasks.get('retried').retry(why) },
    { at: 660, do: ({ triarch }) => triarch.tasks.get('skipped').skip({ step: 2, output: 'by hand', ...why }) },
    { at: 720, do: ({ triarch }) => triarch.tasks.get('frozen').thaw(why) },
    {
      at: 780,
      do: ({ triarch }) =>
        triarch.tasks
          .get('frozen')
          .thaw(why)
          .catch(() => undefined),
    },
    { at: 840, do: ({ triarch }) => triarch.tasks.get('suspended').cancel({ compensate: false, ...why }) },
  ],
}
