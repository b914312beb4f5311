import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as period } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { systemEnvironment } from '../../src/environment/system.ts'
import { Triarch } from '../../src/index.ts'
import type { NodeRow } from '../../src/store/port.ts'
import { adaptive, charges } from './adaptive.ts'
import { scratch } from './scratch.ts'

it('what the processes of an agent have learnt of its service outlives each of them in a rolling restart', async () => {
  using file = scratch()
  const store = file.store(systemEnvironment())
  await store.open()
  const triarch = new Triarch({ store: file.store, ...adaptive, agents: [], roles: [], notices: false })
  const pool: ChildProcess[] = []
  const begin = async () => {
    const child = fork(join(import.meta.dirname, 'adaptive.worker.ts'), [file.path], { execArgv: [] })
    pool.push(child)
    await once(child, 'message')
  }
  /** What the store knows of the processes, once that is so of them. */
  const known = async (so: (nodes: readonly NodeRow[]) => boolean): Promise<readonly NodeRow[]> => {
    for (;;) {
      const nodes = (await store.nodes()).filter(({ runs }) => runs?.load?.agents.bank)
      if (so(nodes)) return nodes
      await period(20)
    }
  }
  const usualOf = ({ runs }: NodeRow) => runs?.load?.agents.bank?.usual
  const lease = ({ leaseUntil }: NodeRow) => leaseUntil
  try {
    await begin()
    await triarch.start()
    const tasks = await Promise.all(Array.from({ length: 100 }, () => triarch.submit(charges, null)))
    await Promise.all(tasks.map((task) => task.result()))
    // What the first process says from now on has all of its attempts in it.
    const [before] = await known((nodes) => nodes.some(usualOf))
    const [last] = await known(
      ([now]) => now !== undefined && before !== undefined && lease(now) > lease(before) + 2_000,
    )
    const learnt = last && usualOf(last)
    expect(learnt).toEqual({ 'run bank.charge': expect.any(Number) })
    for (let restart = 0; restart < 3; restart++) {
      await begin()
      await known((nodes) => nodes.length === 2 && nodes.every(usualOf))
      const old = pool.shift()
      old?.send('stop')
      if (old) await once(old, 'exit')
      const [now] = await known((nodes) => nodes.length === 1)
      expect(now && usualOf(now)).toEqual(learnt)
    }
  } finally {
    for (const child of pool) child.kill('SIGKILL')
    await triarch.stop({ grace: 0 })
    await store.close()
  }
})
