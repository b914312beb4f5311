import { agent, PermanentError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const work = agent('work')
const undone = work.action('undone', { run: (name: string) => name, undo: () => undefined })
const failing = work.action('failing', {
  retry: { attempts: 2, backoff: { initial: '1s' } },
  run(mended: boolean) {
    if (!mended) throw new PermanentError('broken')
    return 'mended'
  },
})
const attempt = (name: string, rescue: 'skip' | 'pause' | 'fail' | 'compensate' | { skip: string }) =>
  workflow(name, {
    async run(_: null, task) {
      await task.run(undone, 'before')
      return { got: await task.run(failing, false, { rescue }) }
    },
  })
const workflows = {
  skip: attempt('skips', 'skip'),
  substitute: attempt('substitutes', { skip: 'instead' }),
  pause: attempt('pauses', 'pause'),
  fail: attempt('fails', 'fail'),
  compensate: attempt('compensates', 'compensate'),
}

/** Steps that use up their attempts, under each rescue strategy; an operator mends what is paused. */
export const rescues: Feature = {
  name: 'rescue',
  workflows: Object.values(workflows),
  agents: [work],
  script: [
    ...Object.entries(workflows).map(([id, one], index) => ({
      at: index,
      do: ({ triarch }: { triarch: import('triarch').Triarch }) => triarch.submit(one, null, { id }),
    })),
    { at: 600, do: ({ triarch }) => triarch.tasks.get('pause').retry({ input: true }) },
  ],
}
