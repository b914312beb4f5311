import type { Measure } from '../measure.ts'
import { oneStep } from '../subject.ts'
import { throughput } from './throughput.ts'

export const tasks: Measure = {
  name: 'tasks',
  about: 'one-step tasks, 1,000 in flight from submit to result',
  async run(bench) {
    const { tasks, ceiling, note } = await throughput(bench, oneStep, bench.quick ? 100 : 20_000)
    return [{ what: 'tasks', value: tasks, unit: '/s', better: 'higher', target: 20_000, ceiling, note }]
  },
}
