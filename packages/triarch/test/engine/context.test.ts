import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { agent, TransientError, Triarch, workflow } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { memory } from '../../src/testing/index.ts'
import { scratch } from './scratch.ts'

const tenant = new AsyncLocalStorage<string>()

describe('AsyncLocalStorage', () => {
  it.each([
    [10_000, 'memory', () => memory()],
    // Its answers come by messages of the thread: that is tried twice for each of the agent's slots.
    [2_000, 'SQLite in its own thread', (path: string) => sqlite(path, { writer: 'worker' })],
  ] as const)(
    `holds the submission's own or nothing, never another task's, for %i tenants on %s`,
    async (tenants, _, store) => {
      const seen: { task: string; place: string; sees: string | undefined }[] = []
      const look = (task: string, place: string) => void seen.push({ task, place, sees: tenant.getStore() })
      const bank = agent('bank', { concurrency: 1_000 })
      const tried = new Set<string>()
      const charge = bank.action('charge', {
        retry: { attempts: 2, backoff: { initial: '20ms', jitter: false } },
        async run(task: string, step) {
          step.signal.addEventListener('abort', () => look(task, 'signal'))
          look(task, 'run')
          await null
          if (tried.has(task)) return look(task, 'again')
          tried.add(task)
          throw new TransientError('not yet')
        },
        undo: ({ input }) => look(input, 'undo'),
      })
      const child = workflow('child', { run: async (task: string) => look(task, 'child') })
      const order = workflow('order', {
        rescue: 'compensate',
        async run(id: string, task) {
          look(id, 'workflow')
          await task.run('local', () => look(id, 'local'), { undo: () => look(id, 'local undo') })
          await task.run(charge, id)
          look(id, 'after a step')
          await task.sleep('50ms')
          look(id, 'after a timer')
          if (Number(id) % 10 === 0) await task.call(child, id)
          if (Number(id) % 100 === 0) await task.transaction('write', () => look(id, 'transaction'))
          if (Number(id) % 5 === 0) await task.waitForSignal('go')
          look(id, 'after a signal')
          if (Number(id) % 2 === 0) throw new Error('undo it all')
        },
      })
      using file = scratch()
      const options = { workflows: [order, child], agents: [bank] } as const
      await using triarch = new Triarch({ ...options, store: store(file.path), limits: { tasks: 20_000 } })
      await tenant.run('whoever starts', () => triarch.start())
      const ids = Array.from({ length: tenants }, (_, n) => String(n + 1))
      const tasks = await Promise.all(ids.map((id) => tenant.run(id, () => triarch.submit(order, id, { id }))))
      await Promise.all(
        tasks.filter(({ id }) => Number(id) % 5 === 0).map((task) => tenant.run('sender', () => task.signal('go'))),
      )
      await Promise.allSettled(tasks.map((task) => task.result()))

      expect(seen.filter(({ task, sees }) => sees !== undefined && sees !== task)).toEqual([])
      // On a busy machine some wait so long that they leave memory: their code runs anew, in the context of nobody.
      const left = new Set(
        seen.filter((it) => it.place === 'workflow' && it.sees === undefined).map(({ task }) => task),
      )
      const stayed = ids.filter((id) => !left.has(id))
      expect(stayed.length).toBeGreaterThan(0)
      const own = (place: string) =>
        new Set(seen.filter((it) => it.place === place && it.sees === it.task).map(({ task }) => task))
      const missing = (place: string, of: readonly string[]) => {
        const there = own(place)
        return of.filter((id) => !there.has(id))
      }
      for (const place of ['workflow', 'local']) expect([place, missing(place, ids)]).toEqual([place, []])
      for (const place of ['again', 'after a step', 'after a timer'])
        expect([place, missing(place, stayed)]).toEqual([place, []])
      const undone = stayed.filter((id) => Number(id) % 2 === 0)
      for (const place of ['undo', 'local undo']) expect([place, missing(place, undone)]).toEqual([place, []])
      expect(own('child').size).toBe(0)
      expect(seen.some(({ place }) => place === 'child')).toBe(true)
    },
    120_000,
  )
})
