import { PermanentError, type TaskChange, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const notice = workflow('notice', { run: async ({ task, to, outcome }: TaskChange) => `${task} ${to} ${outcome}` })
const watched = workflow('watched', {
  hooks: [{ on: ['running', 'stopped'], workflow: notice }],
  async run(fails: boolean, task) {
    await task.sleep('1m')
    if (fails) throw new PermanentError('as told')
    return 'well'
  },
})

/** Tasks that tell others how they are. */
export const hooks: Feature = {
  name: 'hook',
  workflows: [notice, watched],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(watched, false, { id: 'well' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(watched, true, { id: 'badly' }) },
  ],
}
