import type { Triarch } from 'triarch'
import { interruptible } from '../child/interruptible.ts'
import { Child } from '../child/process.ts'
import type { Measure } from '../measure.ts'
import { start } from '../subject.ts'

const unfinished = ['scheduled', 'pending', 'running', 'paused', 'compensating'] as const

export const recover: Measure = {
  name: 'recover',
  about: 'tasks inside their second step when their process is SIGKILLed, until a fresh node has finished them all',
  async run({ quick, place }) {
    const [tasks, lease] = quick ? [50, 500] : [10_000, 2_000]
    const path = await place('engine')
    await using first = new Child('./interrupted.ts', [path, tasks, lease])
    await first.line()
    await first.kill()

    const { agent, workflow } = interruptible(() => undefined)
    const begin = performance.now()
    await using second = await start(path, { workflows: [workflow], agents: [agent], sweep: 50 })
    await allStopped(second.engine)
    const total = performance.now() - begin
    await allSucceeded(second.engine, tasks)
    return [
      { what: `${tasks} tasks`, value: total, unit: 'ms', better: 'lower', note: 'from the start of the fresh node' },
      { what: 'recovery', value: (tasks / total) * 1_000, unit: 'tasks/s', better: 'higher' },
    ]
  },
}

/** Resolves when no task is under way. */
export async function allStopped(engine: Triarch): Promise<void> {
  for (;;) {
    const { tasks } = await engine.tasks.list({ status: unfinished, limit: 1 })
    if (tasks.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Throws when one was lost or failed. */
export async function allSucceeded(engine: Triarch, tasks: number): Promise<void> {
  const failed = await engine.tasks.list({ outcome: ['error', 'cancelled', 'compensated', 'warning'], limit: 1 })
  const { tasks: known } = await engine.statistics.get()
  if (failed.tasks.length > 0 || known !== tasks) throw new Error('tasks were lost or failed')
}
