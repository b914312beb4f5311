import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const bank = agent('bank')
const pay = bank.action('pay', { run: (n: number) => ({ receipt: `r${n}` }), undo: () => undefined })
const refuse = bank.action('refuse', {
  run(_: null): never {
    throw new PermanentError('refused')
  },
})
const part = workflow('part', { run: (n: number, task) => task.run(pay, n) })
const saga = workflow('saga', {
  async run(n: number, task) {
    await task.run(pay, n)
    await task.batch('parts', { workflow: part, items: [10 * n] })
    await task.call(part, 100 * n, { id: 'part' })
    if (n === 2) await task.start(part, 7, { id: 'beside' })
    if (n < 3) return task.continueAsNew(n + 1)
    return task.run(refuse, null)
  },
})
const local = workflow('local', {
  async run(isLast: boolean, task) {
    if (isLast) return task.run(refuse, null)
    await task.run(pay, 1)
    task.undo(() => undefined)
    return task.continueAsNew(true)
  },
})
const taken = workflow('taken', {
  async run(n: number, task) {
    await task.call(part, 5, { id: 'kept', ifExists: 'match' })
    if (n < 2) return task.continueAsNew(n + 1)
    return n
  },
})
const strict = workflow('strict', { rescue: 'fail', run: (_: null, task) => task.waitForSignal('end').then(() => task.run(refuse, null)) }) // biome-ignore format: one line
const family = workflow('family', {
  rescue: 'fail',
  run: (_: null, task) => Promise.all([task.call(strict, null), task.call(strict, null)]),
})

/** What runs of a task did and are to undo with it, children begun again under their ids, and a family that is retried at once. */
export const carries: Feature = {
  name: 'carry',
  workflows: [saga, part, local, taken, strict, family],
  agents: [bank],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(saga, 1, { id: 'saga' }) },
    { at: 60, do: ({ triarch }) => triarch.submit(local, false, { id: 'local' }) },
    { at: 120, do: ({ triarch }) => triarch.submit(taken, 1, { id: 'taken' }) },
    { at: 180, do: ({ triarch }) => triarch.submit(family, null, { id: 'family' }) },
    { at: 240, do: ({ triarch }) => triarch.tasks.get('family').cancel({ compensate: false }) },
    { at: 300, do: ({ triarch }) => triarch.tasks.get('family').retry() },
  ],
}
