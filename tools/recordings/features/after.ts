import { PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const simple = workflow('simple', {
  async run(word: string, task) {
    await task.sleep('5m')
    if (word === 'fail') throw new PermanentError('as told')
    return word
  },
})

/** Tasks that come after others, well and badly, that start later, are frozen and thawed, expire, and run out of time. */
export const followers: Feature = {
  name: 'after',
  workflows: [simple],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(simple, 'one', { id: 'one' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(simple, 'fail', { id: 'fail' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(simple, 'next', { id: 'next', after: 'one' }) },
    { at: 4, do: ({ triarch }) => triarch.submit(simple, 'never', { id: 'never', after: ['one', 'fail'] }) },
    {
      at: 5,
      do: ({ triarch }) => triarch.submit(simple, 'ever', { id: 'ever', after: [{ task: 'fail', on: 'end' }] }),
    },
    { at: 6, do: ({ triarch }) => triarch.submit(simple, 'later', { id: 'later', startAt: '20m' }) },
    { at: 7, do: ({ triarch }) => triarch.submit(simple, 'frozen', { id: 'frozen', frozen: true }) },
    {
      at: 8,
      do: ({ triarch }) => triarch.submit(simple, 'frozen', { id: 'expired', frozen: true, startBefore: '30m' }),
    },
    { at: 9, do: ({ triarch }) => triarch.submit(simple, 'short', { id: 'overdue', completeBy: '3m' }) },
    { at: 3_000, do: ({ triarch }) => triarch.tasks.get('frozen').thaw() },
  ],
}
