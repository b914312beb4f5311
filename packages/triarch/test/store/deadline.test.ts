import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { withDeadline } from '../../src/store/deadline.ts'
import type { StateStore } from '../../src/store/port.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { VirtualEnvironment } from '../../src/testing/virtual.ts'
import { codeOf } from '../engine/harness.ts'
import { newTask } from './samples.ts'

/** A store that answers a call when it is told to. */
function scene(own: Partial<StateStore> = {}) {
  const environment = new VirtualEnvironment()
  const answers: ((row: null) => void)[] = []
  const given: string[] = []
  const task = () => new Promise<null>((resolve) => answers.push(resolve))
  const inner = { task, unanswered: (call: string) => void given.push(call), patience: 8_000, ...own }
  let told = 0
  const store = withDeadline(inner as unknown as StateStore, environment, () => void told++)
  return { environment, store, answers, given, told: () => told }
}

describe('a call of the store that is not answered', () => {
  it('is given up with STORE_UNANSWERED, and its late answer changes nothing', async () => {
    const { environment, store, answers, given, told } = scene()
    const code = codeOf(store.task('t'))
    await environment.advance(7_900)
    expect(given).toEqual([])
    await environment.advance(2_200)
    expect(await code).toBe('STORE_UNANSWERED')
    expect([given, told()]).toEqual([['task'], 1])
    answers[0]?.(null)
    await environment.advance(60_000)
    expect(told()).toBe(1)
  })

  it('costs those that are answered nothing', async () => {
    const { environment, store, answers, given } = scene()
    const lost = codeOf(store.task('lost'))
    for (let second = 0; second < 20; second++) {
      const found = store.task('t')
      await environment.advance(1_000)
      answers.at(-1)?.(null)
      expect(await found).toBeNull()
    }
    expect(await lost).toBe('STORE_UNANSWERED')
    expect(given).toEqual(['task'])
  })

  it('is no call of a process that stood still: the answer that came meanwhile is heard', async () => {
    // All that is due after a standstill comes at once, and in this order.
    const timers: (() => void)[] = []
    const timer = (_: number, callback: () => void) => ({ cancel: () => {}, number: timers.push(callback) })
    const environment = { timer }
    const answer = Promise.withResolvers<null>()
    const inner = { task: () => answer.promise } as unknown as StateStore
    const store = withDeadline(inner, environment as unknown as VirtualEnvironment, () => {})
    const found = store.task('t')
    for (let look = 0; look < 4; look++) timers.shift()?.()
    answer.resolve(null)
    expect(await found).toBeNull()
    timers.shift()?.()
    // Nothing is outstanding: nobody looks any more.
    expect(timers).toEqual([])
  })

  it('gives what the store throws, and what it says of itself, as they are', async () => {
    const { store } = scene({
      task: () => {
        throw new Error('at once')
      },
      paced: true,
    })
    await expect(store.task('t')).rejects.toThrow('at once')
    expect(store.paced).toBe(true)
    expect(store.watch).toBeUndefined()
  })
})

describe('a thread of the SQLite store that is stuck', () => {
  const stuck = async () => {
    const root = mkdtempSync(join(tmpdir(), 'triarch-'))
    const path = join(root, 'store.db')
    const environment = new VirtualEnvironment()
    const store = withDeadline(sqlite(path, { writer: 'worker' })(environment), environment, () => {})
    await store.open()
    await store.submit([newTask('before')])
    using database = new DatabaseSync(path)
    // Endless, as far as anybody waits; what is there can be read meanwhile.
    database.exec(`CREATE TRIGGER stuck BEFORE INSERT ON triarch_tasks BEGIN SELECT count(*) FROM
      (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000000) SELECT i FROM n); END`)
    const submitted = codeOf(store.submit([newTask('t')]))
    return { environment, store, submitted, end: () => rmSync(root, { recursive: true, force: true }) }
  }

  /** Another thread may still be opening the file, and waits in between: time passes as it does outside. */
  const alike = async <T>(environment: VirtualEnvironment, promise: Promise<T>): Promise<T> => {
    let open = true
    const over = promise.finally(() => {
      open = false
    })
    for (let at = performance.now(); open; ) {
      await Promise.race([over, delay(5)])
      const now = performance.now()
      await environment.advance(now - at)
      at = now
    }
    return promise
  }

  it('is replaced, and what it had in hand refused', async () => {
    const { environment, store, submitted, end } = await stuck()
    const behind = codeOf(store.task('before'))
    await environment.advance(80_000)
    expect(await submitted).toBe('STORE_UNANSWERED')
    expect(await behind).toBe('STORE_UNANSWERED')
    expect(await alike(environment, store.task('before'))).toMatchObject({ id: 'before' })
    await alike(environment, store.close())
    end()
  })

  it('keeps nobody from closing the store', async () => {
    const { environment, store, submitted, end } = await stuck()
    const closed = store.close()
    await environment.advance(31_000)
    await closed
    expect(await submitted).toBe('STORE_UNANSWERED')
    end()
  })
})
