import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const lab = agent('lab')
const mix = lab.action('mix', { run: (what: string) => `mixed ${what}`, undo: () => undefined })
const heat = lab.action('heat', {
  rescue: 'fail',
  run(degrees: number) {
    if (degrees > 100) throw new PermanentError('too hot')
    return degrees
  },
})
const experiment = workflow('experiment', {
  async run(degrees: number, task) {
    const first = await task.run(mix, 'salt')
    return { first, heat: await task.run(heat, degrees), last: await task.run(mix, 'sugar') }
  },
})
const undone = workflow('undone', {
  async run(degrees: number, task) {
    await task.run(mix, 'acid')
    return task.run(heat, degrees, { rescue: 'compensate' })
  },
})

/** Tasks that stopped and go on: with another input for what failed, from a step on, without it, or all over again. */
export const rewinds: Feature = {
  name: 'rewind',
  workflows: [experiment, undone],
  agents: [lab],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(experiment, 200, { id: 'mended' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(experiment, 300, { id: 'back' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(experiment, 400, { id: 'without' }) },
    { at: 4, do: ({ triarch }) => triarch.submit(undone, 500, { id: 'over' }) },
    { at: 600, do: ({ triarch }) => triarch.tasks.get('mended').retry({ step: 2, input: 50 }) },
    { at: 660, do: ({ triarch }) => triarch.tasks.get('back').retry({ step: 1 }) },
    { at: 720, do: ({ triarch }) => triarch.tasks.get('without').skip({ step: 2, output: 0 }) },
    { at: 780, do: ({ triarch }) => triarch.tasks.get('over').retry({ input: 60 }) },
  ],
}
