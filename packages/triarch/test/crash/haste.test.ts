import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { Triarch } from '../../src/index.ts'
import { scratch } from '../engine/scratch.ts'
import { haste } from './haste.worker.ts'

const script = fileURLToPath(new URL('haste.worker.ts', import.meta.url))

describe('processes that are killed again and again', () => {
  it('get something done in between, hold nothing, and charge nothing to the steps', { timeout: 600_000 }, async () => {
    using file = scratch()
    await using triarch = new Triarch({ store: file.store, workflows: [haste], roles: [] })
    const tasks = await Promise.all([false, true].map((refused) => triarch.submit(haste, refused)))
    let deaths = 0
    for (
      ;
      !(await Promise.all(tasks.map((task) => task.status()))).every(({ status }) => status === 'stopped');
      deaths++
    ) {
      const child = spawn(process.execPath, [script, file.path], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      await once(child, 'message')
      child.kill('SIGKILL')
      await once(child, 'exit')
      expect(deaths).toBeLessThan(60)
    }
    expect(deaths).toBeGreaterThan(2)
    const ends = await Promise.all(tasks.map((task) => task.status()))
    expect(ends).toMatchObject([
      { outcome: 'success', failures: 0 },
      { outcome: 'compensated', failures: 0 },
    ])
  })
})
