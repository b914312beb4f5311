import { afterEach, describe, expect, it, vi } from 'vitest'
import { agent, TransientError, Triarch, workflow } from '../../src/index.ts'
import type { Shared } from './breaker.suite.ts'
import { codeOf, eventsOf } from './harness.ts'

const patience = { timeout: 60_000 }

/** An operator skips an undo that waits for its next attempt, on a store with real time. */
export function skipSuite(name: string, make: () => Promise<Shared>): void {
  describe(name, () => {
    const ends: (() => Promise<unknown>)[] = []
    afterEach(async () => {
      for (const end of ends.splice(0).reverse()) await end()
    })

    it('is skipped while its task is paused, and the task ends as undone once it goes on', async () => {
      const bank = agent('bank')
      const book = bank.action('book', {
        run: () => 'booked',
        undo() {
          throw new TransientError('later', { retryAfter: 86_400_000 })
        },
      })
      const undoing = workflow('undoing', {
        async run(_: null, task) {
          await task.run(book, null as never)
          throw new Error('and then it failed')
        },
      })
      const { store, dispose } = await make()
      ends.push(dispose)
      const triarch = new Triarch({ store, workflows: [undoing], agents: [bank] })
      ends.push(() => triarch.stop({ grace: 0 }))
      await triarch.start()
      const task = await triarch.submit(undoing, null)
      const failures = async () => (await eventsOf(task, 'attemptFailed')).length
      await vi.waitFor(async () => expect(await failures()).toBe(1), patience)
      await task.pause()
      await vi.waitFor(async () => expect(await task.status()).toMatchObject({ status: 'paused' }), patience)
      await task.skip({ step: 1, reason: 'done by hand' })
      await vi.waitFor(async () => expect(await eventsOf(task, 'undone')).toHaveLength(1), patience)
      expect((await task.status()).status).toBe('paused')
      await task.resume()
      expect(await codeOf(task.result())).toBe('TASK_COMPENSATED')
    })
  })
}
