import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as period } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Triarch } from '../../src/index.ts'
import { load, pace } from './demand.ts'
import { scratch } from './scratch.ts'

/** An autoscaler: starts and stops processes until there are as many as are asked for, three at most. */
async function scale(pool: ChildProcess[], path: string, wanted: number): Promise<void> {
  while (pool.length < Math.min(wanted, 3)) {
    const child = fork(join(import.meta.dirname, 'demand.worker.ts'), [path], { execArgv: [] })
    pool.push(child)
    await once(child, 'message')
  }
  while (pool.length > wanted) {
    const child = pool.pop()
    child?.send('stop')
    if (child) await once(child, 'exit')
  }
}

it('processes that are started and stopped by the demand come for what waits, and go when all is done', async () => {
  using file = scratch()
  const triarch = new Triarch({ store: file.store, ...pace, roles: ['scheduler', 'supervisor'], workflows: [load] })
  const pool: ChildProcess[] = []
  const round = async () => {
    const [crane] = (await triarch.demand({ within: '200ms' })).agents
    await scale(pool, file.path, crane?.wanted.processes ?? 0)
    await period(20)
  }
  try {
    await triarch.start()
    const tasks = await Promise.all(Array.from({ length: 30 }, (_, n) => triarch.submit(load, null, { id: `t-${n}` })))
    while (pool.length < 3) await round()
    for (const child of pool) child.send('go')
    await Promise.all(tasks.map((task) => task.result()))
    while (pool.length > 0) await round()
    const { agents } = await triarch.demand()
    expect(agents).toMatchObject(
      [{ agent: 'crane', waiting: 0, running: 0, has: { processes: 0 }, wanted: { processes: 0 } }].slice(
        0,
        agents.length,
      ),
    )
    const retried = await Promise.all(tasks.map(async (task) => (await task.status()).failures))
    expect(retried.every((failures) => failures === 0)).toBe(true)
  } finally {
    for (const child of pool) child.kill('SIGKILL')
    await triarch.stop({ grace: 0 })
  }
})
