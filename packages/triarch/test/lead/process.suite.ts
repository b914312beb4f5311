import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { type Leadership, Triarch } from '../../src/index.ts'
import type { StoreFactory } from '../../src/store/factory.ts'
import { pace } from './process.ts'

export interface LeadSubject {
  store: StoreFactory
  /** The same, for another process. */
  target: string
  dispose(): Promise<void>
}

/** What real processes promise each other. `module`: leads in a process of its own. */
export function leadSuite(name: string, module: string, make: () => Promise<LeadSubject>): void {
  it(`${name}: killed, is followed by another with a higher token, which hands over when it stops`, async () => {
    const { store, target, dispose } = await make()
    const nodes = ['one', 'other'].map(() => new Triarch({ store, ...pace, onError: () => undefined }))
    const [one, other] = nodes as [Triarch, Triarch]
    await one.open()
    const child = fork(module, [target], { execArgv: [] })
    try {
      const [first] = (await once(child, 'message')) as [number]
      expect(first).toBe(1)
      await one.start()
      const [next, last] = [Promise.withResolvers<Leadership>(), Promise.withResolvers<Leadership>()]
      const led = one.leaders.lead('exporter', (leadership) => {
        next.resolve(leadership)
        return new Promise((resolve) => leadership.signal.addEventListener('abort', () => resolve('told')))
      })
      child.kill('SIGKILL')
      const leadership = await next.promise
      expect([leadership.token, leadership.holds()]).toEqual([2, true])
      await other.start()
      const followed = other.leaders.lead('exporter', last.resolve)
      await one.stop()
      expect(await led).toBe('told')
      // A busy process may have lost its term and got it again meanwhile.
      expect((await last.promise).token).toBeGreaterThan(leadership.token)
      await followed
    } finally {
      child.kill('SIGKILL')
      for (const node of nodes) await node.stop({ grace: 0 })
      await dispose()
    }
  })
}
