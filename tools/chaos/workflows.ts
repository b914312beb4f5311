// Tasks beside orders and drills: bystanders whom nothing may reach, echoes of what nobody expects, tasks that want one lock, and
// poison.
import { appendFileSync } from 'node:fs'
import { agent, type Workflow, workflow } from 'triarch'

/** One step, and done. */
export const bystander = workflow('bystander', {
  run: (n: number, task) => task.run('count', () => n + 1),
})

/** Gives back what it was given, through a step. */
export const echo = workflow('echo', {
  run: (text: unknown, task) => task.run('say', () => text),
})

/** One of these at a time. */
export const keyed = workflow('keyed', {
  exclusive: { key: 'chaos' },
  run: (n: number, task) => task.run('count', () => n + 1),
})

export const poisons = ['code', 'step', 'replay', 'child'] as const
export type Poison = (typeof poisons)[number]

/** A process that poison killed, as a line of the file that is named when the workflows are made. */
export interface Murder {
  task: string
  pid: number
}

/** What they do to those that run them; `diary`: where it is written down that they are about to. */
export function poisonous(diary: string | null): {
  agent: ReturnType<typeof agent>
  workflow: Workflow<Poison, unknown>
} {
  const kill = (task: string): never => {
    if (diary !== null) appendFileSync(diary, `${JSON.stringify({ task, pid: process.pid } satisfies Murder)}\n`)
    process.kill(process.pid, 'SIGKILL')
    for (;;); // until it arrives
  }
  const own = agent('poison', { concurrency: 5 })
  const swallow = own.action('swallow', {
    // It outlasts the lease: a death is known as one.
    attemptWithin: '10s',
    run: (_: null, step) => kill(step.taskId),
  })
  let turns = 0
  const poison = workflow('poison', {
    async run(how: Poison, task) {
      await task.run('taste', () => null)
      if (how === 'code') return kill(task.id)
      if (how === 'step') return task.run(swallow, null)
      if (how === 'child') return task.call(bystander, 1, { tags: { label: 'a\0b' } })
      // Another course of events whenever it is told again.
      await task.sleep(10)
      await task.run(`turn ${process.pid} ${++turns}`, () => null)
      await task.sleep(300)
      return null
    },
  })
  return { agent: own, workflow: poison }
}
