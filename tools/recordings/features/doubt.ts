import { agent, UnknownOutcomeError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const bank = agent('bank')
const unsure = () => {
  throw new UnknownOutcomeError('the line went dead')
}
const found = bank.action('found', { run: unsure, verify: (amount: number) => ({ done: true, output: amount * 2 }) })
const lost = bank.action('lost', {
  run: (amount: number, step) => (step.attempt > 1 ? amount : unsure()),
  verify: () => ({ done: false }) as const,
})
const untold = bank.action('untold', {
  retry: { attempts: 2, backoff: { initial: '10m', jitter: false } },
  run: unsure,
  verify: () => ({ done: 'unknown' }),
})
const once = bank.action('once', { semantics: 'at-most-once', run: unsure })

const transfer = workflow('transfer', {
  async run(amount: number, task) {
    return [await task.run(found, amount), await task.run(lost, amount)]
  },
})
const careful = workflow('careful', { run: async (_: null, task) => task.run(once, null) })
const doubtful = workflow('doubtful', { run: async (_: null, task) => task.run(untold, null) })

/** Outcomes that nobody knows: verified, held for an operator who says what happened, or asked for when the task is cancelled. */
export const doubts: Feature = {
  name: 'doubt',
  workflows: [transfer, careful, doubtful],
  agents: [bank],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(transfer, 4, { id: 'verified' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(careful, null, { id: 'told' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(careful, null, { id: 'held' }) },
    { at: 4, do: ({ triarch }) => triarch.submit(doubtful, null, { id: 'doubtful' }) },
    { at: 100, do: ({ triarch }) => triarch.tasks.get('doubtful').cancel() },
    { at: 7_200, do: ({ triarch }) => triarch.tasks.get('told').skip({ step: 1, output: 'it was paid' }) },
  ],
}
