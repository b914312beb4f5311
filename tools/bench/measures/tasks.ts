import type { Measure } from '../measure.ts'
import { oneStep } from '../subject.ts'
import { throughput } from './throughput.ts'

/** A second. */
const targets = { sqlite: 25_000, postgres: 20_000 }

export const tasks: Measure = {
  name: 'tasks',
  about: 'one-step tasks, hundreds in flight, from submit to result',
  async run(bench) {
    const { tasks, ceiling, note, costs } = await throughput(bench, oneStep, bench.quick ? 100 : 20_000)
    const speed = { value: tasks, ceiling, unit: '/s', better: 'higher' } as const
    return [{ what: 'tasks', ...speed, target: targets[bench.store], note }, ...costs]
  },
}
