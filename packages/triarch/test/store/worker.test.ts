import { EventEmitter } from 'node:events'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { TriarchError } from '../../src/index.ts'
import { send } from '../../src/store/sqlite/failure.ts'
import { packed } from '../../src/store/sqlite/parcel.ts'
import { type Request, WorkerRunner } from '../../src/store/sqlite/worker.ts'
import { type HandClock, handClock } from './clock.ts'
import { creation, newTask } from './samples.ts'

/** A thread that answers when it is told to. */
class Thread extends EventEmitter {
  readonly file: unknown
  readonly options: { workerData: unknown }
  readonly asked: Request[] = []
  /** Keeps the process alive. */
  busy = true
  ended = 0
  /** Inside SQLite: it does not even end. */
  stuck = false

  constructor(file: unknown, options: { workerData: unknown }) {
    super()
    this.file = file
    this.options = options
    threads.push(this)
  }

  ref(): void {
    this.busy = true
  }

  unref(): void {
    this.busy = false
  }

  postMessage(request: Request): void {
    this.asked.push(request)
  }

  terminate(): Promise<void> {
    this.ended++
    return this.stuck ? new Promise(() => undefined) : Promise.resolve()
  }

  /** The n-th of what was asked is answered; the last when not given. */
  answer(value: unknown, n = -1): Promise<void> {
    const id = this.asked.at(n)?.id
    this.emit('message', value instanceof Error ? { id, error: send(value) } : { id, value: JSON.stringify(value) })
    return settled()
  }

  get names(): string[] {
    return this.asked.map(({ name }) => name)
  }
}

const threads: Thread[] = []
vi.mock('node:worker_threads', () => ({
  Worker: function Worker(...given: ConstructorParameters<typeof Thread>) {
    return new Thread(...given)
  },
}))

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

const STUCK = 30_000

describe('a runner with a thread', () => {
  let clock: HandClock
  beforeEach(() => {
    clock = handClock()
    threads.length = 0
  })
  const begun = async (busyTimeout = 10_000) => {
    const runner = new WorkerRunner(clock, 'store.db', busyTimeout)
    const opening = runner.open()
    await settled()
    return { runner, opening, thread: threads[0] as Thread }
  }
  const opened = async () => {
    const { runner, opening, thread } = await begun()
    await thread.answer(undefined)
    await opening
    return { runner, thread }
  }
  const isOver = async (promise: Promise<unknown>) => {
    let over = false
    const done = () => {
      over = true
    }
    promise.then(done, done)
    await settled()
    return over
  }
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'done',
      (error: TriarchError) => error.code,
    )

  it('is open once the thread is', async () => {
    const { runner, opening, thread } = await begun()
    expect([thread.names, runner.alive, await isOver(opening)]).toEqual([['open'], false, false])
    expect(String(thread.file)).toMatch(/thread\.ts$/)
    expect(thread.options.workerData).toEqual({ path: 'store.db', block: 25 })
    await thread.answer(undefined)
    expect([runner.alive, await isOver(opening)]).toEqual([true, true])
    await begun(10)
    expect(threads[1]?.options.workerData).toEqual({ path: 'store.db', block: 10 })
  })

  it('waits for a file that is busy, and ends a thread that cannot open it', async () => {
    const { runner, opening, thread } = await begun()
    const refused = codeOf(opening)
    await thread.answer(new TriarchError('STORE_BUSY', 'held'))
    clock.advance(50)
    await settled()
    expect(thread.names).toEqual(['open', 'open'])
    await thread.answer(new TriarchError('STORE_FAILED', 'no file'))
    expect([await refused, thread.ended, runner.alive]).toEqual(['STORE_FAILED', 1, false])
  })

  it('gives each its own answer, and keeps the process alive only while somebody waits', async () => {
    const { runner, thread } = await opened()
    expect(thread.busy).toBe(false)
    const batch = [creation(newTask('t'))]
    const [committed, found, left] = [
      runner.run('commit', batch),
      codeOf(runner.run('task', 't')),
      runner.run('leave', 'n'),
    ]
    await settled()
    expect(thread.asked.slice(1)).toEqual([
      { id: expect.any(Number), now: clock.now(), name: 'commit', batch: packed(batch) },
      { id: expect.any(Number), now: clock.now(), name: 'task', args: '["t"]' },
      { id: expect.any(Number), now: clock.now(), name: 'leave', args: '["n"]' },
    ])
    await thread.answer(undefined, 3)
    await thread.answer(new TriarchError('STORE_FULL', 'full'), 2)
    expect(thread.busy).toBe(true)
    await thread.answer([{ ok: true, key: 1 }], 1)
    expect([await committed, await found, await left]).toEqual([[{ ok: true, key: 1 }], 'STORE_FULL', undefined])
    expect(thread.busy).toBe(false)
    const again = runner.run('counts')
    await settled()
    expect(thread.busy).toBe(true)
    await thread.answer('counts')
    expect(await again).toBe('counts')
  })

  it('asks again while the store is busy, for as long as it may', async () => {
    const { runner, thread } = await opened()
    const code = codeOf(runner.run('task', 't'))
    await settled()
    for (let n = 0; n < 3; n++) {
      await thread.answer(new TriarchError('STORE_BUSY', 'held'))
      clock.advance(50)
      await settled()
    }
    expect(thread.names).toEqual(['open', 'task', 'task', 'task', 'task'])
    clock.advance(10_000)
    await thread.answer(new TriarchError('STORE_BUSY', 'held'))
    expect(await code).toBe('STORE_BUSY')
  })

  it.each(['error', 'exit'])('gets another when that ends by an %s, one for all that ask', async (how) => {
    const { runner, thread } = await opened()
    for (let n = 1; n <= 2; n++) {
      const last = threads.at(-1) as Thread
      const lost = runner.run('task', 't').catch((error: unknown) => error)
      await settled()
      const why = new Error('out of memory')
      last.emit(how, why)
      expect(await lost).toMatchObject({ code: 'STORE_UNANSWERED', cause: how === 'error' ? why : undefined })
      expect(runner.alive).toBe(false)
      const asked = [runner.run('task', 'u'), runner.run('task', 'v')]
      await settled()
      expect(threads).toHaveLength(n + 1)
      const next = threads[n] as Thread
      await next.answer(undefined)
      expect(next.names).toEqual(['open', 'task', 'task'])
      for (const place of [1, 2]) await next.answer(place, place)
      expect(await Promise.all(asked)).toEqual([1, 2])
      expect([runner.alive, next.busy]).toEqual([true, false])
    }
    expect(thread.names).toEqual(['open', 'task'])
  })

  it('gives up one that is stuck, whose end later harms nobody', async () => {
    const { runner, thread } = await opened()
    const first = codeOf(runner.run('task', 't'))
    await settled()
    clock.advance(STUCK - 1)
    runner.unanswered()
    expect([thread.ended, await isOver(first)]).toEqual([0, false])
    const second = codeOf(runner.run('task', 'u'))
    clock.advance(1)
    runner.unanswered()
    expect([await first, await second, thread.ended, thread.busy]).toEqual([
      'STORE_UNANSWERED',
      'STORE_UNANSWERED',
      1,
      false,
    ])
    const third = runner.run('task', 'v')
    await settled()
    await threads[1]?.answer(undefined)
    thread.emit('exit', 1)
    expect(runner.alive).toBe(true)
    await threads[1]?.answer('v')
    expect(await third).toBe('v')
    runner.unanswered()
    expect(threads.map(({ ended }) => ended)).toEqual([1, 0])
  })

  it('closes after what was asked before, and takes nothing more', async () => {
    const { runner, thread } = await opened()
    const before = runner.run('task', 't')
    await settled()
    const closed = runner.close()
    expect(await codeOf(runner.run('task', 'u'))).toBe('STORE_CLOSED')
    expect([thread.names, thread.ended, runner.alive]).toEqual([['open', 'task', 'close'], 0, false])
    await thread.answer('t', 1)
    expect([await before, thread.ended]).toEqual(['t', 0])
    await thread.answer(undefined)
    await closed
    expect(thread.ended).toBe(1)
    clock.advance(2 * STUCK)
    expect(thread.ended).toBe(1)
    await runner.close()
  })

  it('closes a thread that is just starting, and is closed when that is dead or stuck', async () => {
    const { runner, thread } = await begun()
    const closed = runner.close()
    await settled()
    expect(thread.names).toEqual(['open'])
    await thread.answer(undefined)
    expect(thread.names).toEqual(['open', 'close'])
    thread.emit('exit', 1)
    await closed
    await new WorkerRunner(clock, 'store.db', 0).close()

    threads.length = 0
    const other = await opened()
    other.thread.stuck = true
    const ending = other.runner.close()
    await settled()
    expect(await isOver(ending)).toBe(false)
    clock.advance(STUCK)
    await ending
    expect([other.thread.ended, other.thread.busy]).toEqual([1, false])
  })
})
