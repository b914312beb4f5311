import type { Measure } from '../measure.ts'
import { threeSteps } from '../subject.ts'
import { throughput } from './throughput.ts'

/** Steps a second. */
const targets = { sqlite: 60_000, postgres: 40_000 }

export const steps: Measure = {
  name: 'steps',
  about: 'three-step tasks, in-process no-op actions, hundreds in flight, from submit to result',
  async run(bench) {
    const { tasks, ceiling, note, costs } = await throughput(bench, threeSteps, bench.quick ? 100 : 20_000)
    const speed = { value: tasks * 3, ceiling: ceiling * 3, unit: '/s', better: 'higher' } as const
    return [{ what: 'steps', ...speed, target: targets[bench.store], note }, ...costs]
  },
}
