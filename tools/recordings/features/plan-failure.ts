import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const site = agent('site')
const lay = site.action('lay', {
  run({ name }: { name: string; on?: unknown }) {
    if (name.startsWith('bad')) throw new PermanentError(name)
    return name
  },
  undo: () => undefined,
})
const under = (name: string, rescue: 'skip' | 'pause' | 'fail' | 'compensate') =>
  workflow(name, {
    plan(_: null, plan) {
      const good = plan.step(lay, { name: 'good' })
      const bad = plan.step(lay, { name: 'bad', on: good.output }, { rescue })
      const after = plan.step(lay, { name: 'after', on: bad.output })
      plan.step(lay, { name: 'beside' })
      return { good: good.output, after: after.output }
    },
  })
const [skips, pauses, fails, compensates] = [
  under('skips', 'skip'),
  under('pauses', 'pause'),
  under('fails', 'fail'),
  under('compensates', 'compensate'),
]

/** Steps of plans that fail, under each rescue strategy; skipped with all that depends on them, mended, and begun anew. */
export const planFailures: Feature = {
  name: 'plan-failure',
  workflows: [skips, pauses, fails, compensates],
  agents: [site],
  script: [
    { at: 1, do: ({ triarch }) => triarch.submit(skips, null, { id: 'skips' }) },
    { at: 2, do: ({ triarch }) => triarch.submit(pauses, null, { id: 'mended' }) },
    { at: 3, do: ({ triarch }) => triarch.submit(pauses, null, { id: 'skipped' }) },
    { at: 4, do: ({ triarch }) => triarch.submit(fails, null, { id: 'rewound' }) },
    { at: 5, do: ({ triarch }) => triarch.submit(compensates, null, { id: 'compensated' }) },
    { at: 600, do: ({ triarch }) => triarch.tasks.get('mended').retry({ step: 2, input: { name: 'better' } }) },
    { at: 660, do: ({ triarch }) => triarch.tasks.get('skipped').skip({ step: 2 }) },
    { at: 720, do: ({ triarch }) => triarch.tasks.get('rewound').retry({ step: 2, input: { name: 'better' } }) },
  ],
}
