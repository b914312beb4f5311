import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type TaskHandle, Triarch } from '../../src/index.ts'
import { scratch } from '../engine/scratch.ts'
import { patient, poison } from './poison.worker.ts'

const script = fileURLToPath(new URL('poison.worker.ts', import.meta.url))

function node(path: string, ...flags: string[]): ChildProcess {
  return spawn(process.execPath, [...flags, script, path], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

async function setApart(task: TaskHandle, signal: AbortSignal): Promise<boolean> {
  try {
    for await (const { pause } of task.watch({ signal })) if (pause?.cause === 'quarantine') return true
  } catch {
    // Nobody waits for it any more.
  }
  return false
}

describe('a task that its process dies of', { timeout: 600_000 }, () => {
  it('is quarantined after a few deaths, and the others go on', async () => {
    using file = scratch()
    await using triarch = new Triarch({ store: file.store, workflows: [poison, patient], roles: [] })
    const tasks = [await triarch.submit(patient, 0), await triarch.submit(patient, 1)]
    const bad = await triarch.submit(poison, undefined as never)
    tasks.push(await triarch.submit(patient, 2), await triarch.submit(patient, 3))
    let deaths = 0
    for (;;) {
      const child = node(file.path)
      const over = new AbortController()
      const died = once(child, 'exit').then(() => false)
      const found = await Promise.race([setApart(bad, over.signal), died])
      over.abort()
      if (!found) {
        expect(++deaths).toBeLessThan(12)
        continue
      }
      for (const task of tasks) await task.signal('go')
      expect(await Promise.all(tasks.map((task) => task.result()))).toEqual([0, 1, 2, 3])
      child.kill('SIGKILL')
      await died
      break
    }
    expect(deaths).toBeGreaterThan(2)
    expect((await bad.status()).pause?.error).toMatchObject({ code: 'TASK_QUARANTINED', details: { cause: 'deaths' } })
    for (const task of tasks) expect(await triarch.tasks.get(task.id).explain()).toMatchObject({ status: 'stopped' })
  })
})

describe('a task with a history larger than the heap', { timeout: 600_000 }, () => {
  it('is quarantined before it is read, and the others go on', async () => {
    using file = scratch()
    await using triarch = new Triarch({ store: file.store, workflows: [poison, patient], roles: [] })
    const [large, other] = [await triarch.submit(patient, 1), await triarch.submit(patient, 2)]
    const event = JSON.stringify([{ type: 'signalReceived', name: 'other', payload: 'x'.repeat(1_000_000) }])
    using database = new DatabaseSync(file.path)
    const insert = database.prepare(
      'INSERT INTO triarch_history (task, seq, at, events) SELECT key, ?, 0, ? FROM triarch_tasks WHERE id = ?',
    )
    database.exec('BEGIN')
    for (let seq = 2; seq <= 151; seq++) insert.run(seq, event, large.id)
    database.exec('COMMIT')
    const child = node(file.path, '--max-old-space-size=256')
    const died = once(child, 'exit').then(() => false)
    expect(await Promise.race([setApart(large, AbortSignal.timeout(500_000)), died])).toBe(true)
    await other.signal('go')
    expect(await other.result()).toBe(2)
    expect((await large.status()).pause?.error?.details).toEqual({ cause: 'size' })
    child.kill('SIGKILL')
    await died
  })
})
