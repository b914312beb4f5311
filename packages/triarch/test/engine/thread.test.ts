import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { agent, Triarch, workflow } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'

it("a node finishes its tasks though the store's thread dies again and again", async () => {
  const root = mkdtempSync(join(tmpdir(), 'triarch-'))
  const threads: Worker[] = []
  const noted = (thread: Worker) => thread.threadName === 'triarch-sqlite' && threads.push(thread)
  process.on('worker', noted)
  const ran: string[] = []
  const svc = agent('svc')
  const act = svc.action('act', {
    retry: { attempts: 20, backoff: { initial: '10ms' } },
    async run(n: number, step) {
      ran.push(step.idempotencyKey)
      if (n % 2 === 1 && step.attempt === 1) await threads.at(-1)?.terminate()
      return n
    },
  })
  const count = workflow('count', {
    async run(_: null, task) {
      let sum = 0
      for (let n = 1; n <= 6; n++) sum += await task.run(act, n)
      return sum
    },
  })
  const store = sqlite(join(root, 'store.db'), { writer: 'worker' })
  const options = { workflows: [count], agents: [svc], lease: '1s', sweep: '100ms', poll: '20ms' } as const
  {
    await using triarch = new Triarch({ store, ...options, onError: () => undefined })
    await triarch.start()
    const task = await triarch.submit(count, null)
    expect(await task.result({ timeout: '10m' })).toBe(21)
  }
  expect(new Set(ran).size).toBe(6)
  expect(threads.length).toBeGreaterThan(3)
  process.off('worker', noted)
  rmSync(root, { recursive: true })
})
