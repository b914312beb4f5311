import { interruptible } from '../child/interruptible.ts'
import { Child } from '../child/process.ts'
import type { Measure } from '../measure.ts'
import { start } from '../subject.ts'

const unfinished = ['scheduled', 'pending', 'running', 'paused', 'compensating'] as const

export const recover: Measure = {
  name: 'recover',
  about: 'tasks inside their second step when their process is SIGKILLed, until a fresh node has finished them all',
  async run({ quick, folder }) {
    const [tasks, lease] = quick ? [50, 500] : [10_000, 2_000]
    const path = `${folder}/engine.db`
    await using first = new Child('./interrupted.ts', [path, tasks, lease])
    await first.line()
    await first.kill()

    const { agent, workflow } = interruptible(() => undefined)
    const begin = performance.now()
    await using second = await start(path, { workflows: [workflow], agents: [agent], sweep: 50 })
    let noticed = Number.NaN
    second.engine.on('recovered', ({ deadNodes }) => {
      if (deadNodes.length > 0 && Number.isNaN(noticed)) noticed = performance.now() - begin
    })
    for (;;) {
      const { tasks: left } = await second.engine.list({ status: unfinished, limit: 1 })
      if (left.length === 0) break
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const total = performance.now() - begin
    const failed = await second.engine.list({ result: ['error', 'cancelled', 'compensated', 'warning'], limit: 1 })
    const { tasks: known } = await second.engine.statistics()
    if (failed.tasks.length > 0 || known !== tasks) throw new Error('recover: tasks were lost or failed')
    const work = total - noticed
    return [
      { what: `${tasks} tasks`, value: total, unit: 'ms', better: 'lower', note: 'from the start of the fresh node' },
      { what: 'of it lease', value: noticed, unit: 'ms', better: 'lower', note: `what was left of ${lease} ms` },
      {
        what: 'of it recovery',
        value: work,
        unit: 'ms',
        better: 'lower',
        note: 'release, claim, replay, retry, finish',
      },
      { what: 'recovery', value: (tasks / work) * 1_000, unit: 'tasks/s', better: 'higher' },
    ]
  },
}
