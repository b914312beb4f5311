import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { BalancedRunner } from '../../src/store/sqlite/balanced.ts'
import { InlineRunner } from '../../src/store/sqlite/inline.ts'
import { WorkerRunner } from '../../src/store/sqlite/worker.ts'
import { handClock } from './clock.ts'
import { creation, newTask, transition } from './samples.ts'

const clock = handClock()
const LARGE = 200

describe('a store that shares its work between two threads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'triarch-'))
  const threads: WorkerRunner[] = []
  let opening: Promise<void> | undefined
  const opened = async () => {
    const path = join(mkdtempSync(join(folder, 'store-')), 'store.db')
    const runner = new BalancedRunner(new InlineRunner(clock, path, 10_000), () => {
      const thread = new WorkerRunner(clock, path, 10_000)
      const open = thread.open.bind(thread)
      thread.open = () => {
        opening = open()
        return opening
      }
      threads.push(thread)
      return thread
    })
    await runner.open()
    return runner
  }
  const creations = (name: string, count = LARGE) =>
    Array.from({ length: count }, (_, n) => creation(newTask(`${name}-${n}`)))
  const started = async (runner: BalancedRunner) => {
    await runner.run('commit', creations('first'))
    await opening
    await new Promise(setImmediate)
  }
  afterEach(() => {
    threads.length = 0
  })

  it('starts the other with the first large commit, and answers as one', async () => {
    const runner = await opened()
    await runner.run('commit', creations('small', 3))
    expect(threads).toHaveLength(0)
    await started(runner)
    const large = runner.run('commit', creations('second'))
    const small = runner.run('commit', [creation(newTask('lonely')), creation(newTask('first-7'))])
    expect(await large).toHaveLength(LARGE)
    expect((await large).every(({ ok }) => ok)).toBe(true)
    expect(await small).toEqual([
      { ok: true, key: expect.any(Number) },
      { ok: false, reason: 'exists' },
    ])
    const [outcome] = await runner.run('commit', creations('third', 1))
    const key = outcome?.ok ? outcome.key : null
    await runner.run('commit', [transition({ key: key ?? 0, id: 'third-0', epoch: 1 })])
    expect((await runner.run('records', 'third-0', 0, 10)).map(({ seq }) => seq)).toEqual([1, 2])
    expect(threads).toHaveLength(1)
    await runner.close()
  })

  it('goes on when the other has died, and replaces it', async () => {
    const runner = await opened()
    await started(runner)
    await threads[0]?.close()
    const large = await runner.run('commit', creations('second'))
    expect(large.every(({ ok }) => ok)).toBe(true)
    expect((await runner.run('counts')).tasks).toBe(2 * LARGE)
    expect(threads).toHaveLength(2)
    await runner.close()
  })

  it('removes its files', () => rmSync(folder, { recursive: true }))
})
