import { agent, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const line = agent('line')
const hold = line.action('hold', {
  attemptWithin: '2h',
  run: (_: string, step) =>
    step.attempt > 1
      ? 'held on'
      : new Promise<string>((_, reject) => step.signal.addEventListener('abort', () => reject(step.signal.reason))),
})
const again = line.action('again', {
  attemptWithin: '2h',
  run: (_: null, step) =>
    step.attempt > 3
      ? 'at last'
      : new Promise<string>((_, reject) => step.signal.addEventListener('abort', () => reject(step.signal.reason))),
})
const once = line.action('once', {
  attemptWithin: '2h',
  semantics: 'at-most-once',
  run: (_: null, step) =>
    new Promise<string>((_, reject) => step.signal.addEventListener('abort', () => reject(step.signal.reason))),
})
const holding = workflow('holding', {
  async run(name: string, task) {
    const [held] = await Promise.all([task.run(hold, name), task.sleep('20m')])
    return held
  },
})
const suspect = workflow('suspect', { run: async (_: null, task) => task.run(again, null) })
const careful = workflow('careful', { run: async (_: null, task) => task.run(once, null) })

/** Processes that die under tasks: what ran is lost and tried again, by itself when it may be to blame, or held. */
export const losses: Feature = {
  name: 'loss',
  workflows: [holding, suspect, careful],
  agents: [line],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(holding, 'a', { id: 'holding' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(suspect, null, { id: 'suspect' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(careful, null, { id: 'careful' }) },
    { at: 600, do: ({ crash }) => crash() },
    { at: 900, do: ({ crash }) => crash() },
    { at: 1_200, do: ({ crash }) => crash() },
    { at: 3_000, do: ({ triarch }) => triarch.tasks.get('careful').skip({ step: 1, output: 'it was done' }) },
  ],
}
