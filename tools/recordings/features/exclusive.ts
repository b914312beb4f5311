import { workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const single = workflow('single', {
  exclusive: { key: (account) => `account ${account}` },
  async run(account: string, task) {
    const word = await task.waitForSignal<string>('go')
    if (word === 'again') return task.continueAsNew(`${account}`)
    return `${account} ${word}`
  },
})

/** One task at a time: in line, in place of who has it, kept by one that continues as new, had again by one that is retried. */
export const exclusives: Feature = {
  name: 'exclusive',
  workflows: [single],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(single, 'a', { id: 'first' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(single, 'a', { id: 'second' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(single, 'b', { id: 'replaced' }) },
    { at: 60, do: ({ triarch }) => triarch.submit(single, 'b', { id: 'instead', exclusive: { ifHeld: 'replace' } }) },
    { at: 600, do: ({ triarch }) => triarch.tasks.get('first').signal('go', 'again') },
    { at: 660, do: ({ triarch }) => triarch.tasks.get('first').signal('go', 'well') },
    { at: 720, do: ({ triarch }) => triarch.tasks.get('replaced').retry() },
    { at: 1_200, do: ({ triarch }) => triarch.tasks.get('second').signal('go', 'well') },
    { at: 1_800, do: ({ triarch }) => triarch.tasks.get('instead').signal('go', 'well') },
    { at: 2_400, do: ({ triarch }) => triarch.tasks.get('replaced').signal('go', 'at last') },
  ],
}
