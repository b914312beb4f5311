import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import type { StoreFactory } from '../../src/store/factory.ts'
import { seen } from '../engine/harness.ts'
import { bank } from './process.ts'

export interface FlightSubject {
  store: StoreFactory
  /** The same, for another process. */
  target: string
  dispose(): Promise<void>
}

/** What real processes promise each other. `module`: asks the service in a process of its own. */
export function flightSuite(name: string, module: string, make: () => Promise<FlightSubject>): void {
  it(`${name}: killed, costs those who wait for its answer nothing but its lease; one of them asks, for all`, async () => {
    const { store, target, dispose } = await make()
    const calls: string[] = []
    /** Each waits for the flight of the process that is to die. */
    const waits = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const nodes = waits.map(({ resolve }) => {
      const watched = seen(store, (own) => ({
        async readCache(key) {
          const row = await own.readCache(key)
          if (row.flying) resolve()
          return row
        },
      }))
      return bank(watched, (currency) => calls.push(currency))
    })
    const child = fork(module, [target], { execArgv: [] })
    try {
      expect(await once(child, 'message')).toContain('EUR')
      for (const { triarch } of nodes) await triarch.start()
      const asked = nodes.flatMap(({ triarch, quote }) => [0, 1].map(() => triarch.submit(quote, 'EUR')))
      const tasks = await Promise.all(asked)
      await Promise.all(waits.map(({ promise }) => promise))
      expect(calls).toEqual([])
      child.kill('SIGKILL')
      expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([1, 1, 1, 1])
      expect(await nodes[0]?.triarch.tasks.get('first').result()).toBe(1)
      expect(calls).toEqual(['EUR'])
    } finally {
      child.kill('SIGKILL')
      for (const { triarch } of nodes) await triarch.stop({ grace: 0 })
      await dispose()
    }
  })
}
