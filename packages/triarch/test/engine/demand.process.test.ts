import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as period } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Triarch, type TriarchOptions, type WorkDemand } from '../../src/index.ts'
import { haul, load, pace } from './demand.ts'
import { scratch } from './scratch.ts'

/** An autoscaler: starts and stops processes until there are as many as are asked for, three at most. */
async function scale(pool: ChildProcess[], args: readonly string[], wanted: number): Promise<void> {
  while (pool.length < Math.min(wanted, 3)) {
    const child = fork(join(import.meta.dirname, 'demand.worker.ts'), args, { execArgv: [] })
    pool.push(child)
    await once(child, 'message')
  }
  while (pool.length > wanted) {
    const child = pool.pop()
    child?.send('stop')
    if (child) await once(child, 'exit')
  }
}

const rest: Record<string, Partial<TriarchOptions>> = {
  agent: { roles: ['scheduler', 'supervisor'], workflows: [load] },
  scheduler: { roles: ['supervisor'], workflows: [haul] },
}

it.each([
  ['agent', load],
  ['scheduler', haul],
] as const)(
  'processes that are started and stopped by the demand come for what waits, and go when all is done: %s',
  async (kind, flow) => {
    using file = scratch()
    const triarch = new Triarch({ store: file.store, ...pace, ...rest[kind] })
    const pool: ChildProcess[] = []
    const asked = async (): Promise<WorkDemand | undefined> => {
      const { agents, schedulers } = await triarch.nodes.demand({ within: '200ms' })
      return kind === 'agent'
        ? agents.find(({ agent }) => agent === 'crane')
        : schedulers.find(({ workflow }) => workflow === flow.name)
    }
    const round = async () => {
      await scale(pool, [file.path, kind], (await asked())?.wanted.processes ?? 0)
      await period(20)
    }
    try {
      await triarch.start()
      const tasks = await Promise.all(
        Array.from({ length: 30 }, (_, n) => triarch.submit(flow, null, { id: `t-${n}` })),
      )
      while (pool.length < 3) await round()
      for (const child of pool) child.send('go')
      await Promise.all(tasks.map((task) => task.result()))
      while (pool.length > 0) await round()
      const none = { waiting: 0, running: 0, has: { processes: 0 }, wanted: { processes: 0 } }
      expect((await asked()) ?? none).toMatchObject(none)
      const retried = await Promise.all(tasks.map(async (task) => (await task.status()).failures))
      expect(retried.every((failures) => failures === 0)).toBe(true)
    } finally {
      for (const child of pool) child.kill('SIGKILL')
      await triarch.stop({ grace: 0 })
    }
  },
)
