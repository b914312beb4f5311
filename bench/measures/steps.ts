import type { Measure } from '../measure.ts'
import { threeSteps } from '../subject.ts'
import { throughput } from './throughput.ts'

export const steps: Measure = {
  name: 'steps',
  about: 'three-step tasks, in-process no-op actions, 1,000 in flight from submit to result',
  async run(bench) {
    const { tasks, ceiling, note } = await throughput(bench, threeSteps, bench.quick ? 100 : 20_000)
    return [
      { what: 'steps', value: tasks * 3, unit: '/s', better: 'higher', target: 50_000, ceiling: ceiling * 3, note },
    ]
  },
}
