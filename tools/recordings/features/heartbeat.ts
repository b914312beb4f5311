import { agent, TransientError, workflow } from 'triarch'
import type { Feature } from '../feature.ts'

const mill = agent('mill')
/** Grinds a part of it in each attempt. */
const grind = mill.action('grind', {
  heartbeatWithin: '1m',
  retry: { attempts: 100, backoff: { initial: '5s', factor: 1 } },
  run(sacks: number, step) {
    const done = ((step.checkpoint as number | undefined) ?? 0) + 1
    step.heartbeat({ progress: done / sacks, checkpoint: done })
    if (done < sacks) throw new TransientError('the wind is gone')
    return `${sacks} ground`
  },
})
/** Says nothing, the first time. */
const silent = mill.action('silent', {
  heartbeatWithin: '30s',
  attemptWithin: '1h',
  run: (_: null, step) =>
    step.attempt > 1
      ? 'heard'
      : new Promise<string>((_, reject) => step.signal.addEventListener('abort', () => reject(step.signal.reason))),
})
const flour = workflow('flour', {
  run: async (sacks: number, task) => ({ ground: await task.run(grind, sacks), silent: await task.run(silent, null) }),
})

/** Attempts that say how far they are, go on where the last one was, and one that is given up for its silence. */
export const heartbeats: Feature = {
  name: 'heartbeat',
  workflows: [flour],
  agents: [mill],
  script: [{ at: 1, do: ({ triarch }) => triarch.submit(flour, 3, { id: 'flour' }) }],
}
