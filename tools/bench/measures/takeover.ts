import { interruptible } from '../child/interruptible.ts'
import { Child } from '../child/process.ts'
import type { Measure } from '../measure.ts'
import { start } from '../subject.ts'
import { allStopped, allSucceeded } from './recover.ts'

export const takeover: Measure = {
  name: 'takeover',
  about:
    'a node that is SIGKILLed with tasks inside their second step, until another, up all the time, has finished them',
  async run({ quick, place }) {
    const [tasks, lease, sweep] = quick ? [50, 500, 50] : [2_000, 2_000, 250]
    const at = await place('engine')
    const { agent, workflow } = interruptible(() => undefined)
    await using other = await start(at, { workflows: [workflow], agents: [agent], lease, sweep })
    const { engine } = other
    await using first = new Child('./interrupted.ts', [at, tasks, lease])
    await first.line()

    let released = Number.NaN
    engine.on('recovered', ({ deadNodes }) => {
      if (deadNodes.length > 0 && Number.isNaN(released)) released = performance.now() - begin
    })
    const begin = performance.now()
    await first.kill()
    await allStopped(engine)
    const total = performance.now() - begin
    await allSucceeded(engine, tasks)
    const bound = lease + sweep
    return [
      {
        what: 'released',
        value: released,
        unit: 'ms',
        better: 'lower',
        target: bound,
        note: `lease ${lease} ms and one sweep of ${sweep} ms`,
      },
      {
        what: `${tasks} tasks finished`,
        value: total,
        unit: 'ms',
        better: 'lower',
        note: `claim, replay, retry, finish: ${Math.round(total - released)} ms`,
      },
    ]
  },
}
