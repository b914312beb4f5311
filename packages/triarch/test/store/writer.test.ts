import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LONGEST_ANSWER } from '../../src/store/deadline.ts'
import type { Claim, Hint, StateStore } from '../../src/store/port.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { type SqliteOptions, sqlite } from '../../src/store/sqlite/index.ts'
import { InlineRunner } from '../../src/store/sqlite/inline.ts'
import { WorkerRunner } from '../../src/store/sqlite/worker.ts'
import { advancing, type HandClock, handClock } from './clock.ts'
import { creation, newTask, owned } from './samples.ts'

const within = 86_400_000
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** What a SQLite store is made of, and what is open of it when: what no other store has. */
describe('a SQLite store', () => {
  let root: string
  let path: string
  let clock: HandClock
  const stores: StateStore[] = []
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'triarch-'))
    path = join(root, 'store.db')
    clock = handClock()
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    for (const store of stores.splice(0)) await store.close()
    rmSync(root, { recursive: true })
  })
  const made = (options: SqliteOptions = {}, file = path) => {
    const store = sqlite(file, options)(clock)
    stores.push(store)
    return store
  }
  const opened = async (options: SqliteOptions = {}, file = path) => {
    const store = made(options, file)
    await store.open()
    return store
  }
  /** Numbers the threads that would be started. */
  const threads = () => {
    vi.spyOn(WorkerRunner.prototype, 'close').mockResolvedValue()
    return vi.spyOn(WorkerRunner.prototype, 'open').mockResolvedValue()
  }
  const batch = (count: number) => Array.from({ length: count }, (_, n) => creation(newTask(`${count}-${n}`)))
  const transact = (
    store: StateStore,
    claim: Claim,
    body: (tx: unknown) => string | Promise<string>,
    bounds: { within?: number; signal?: AbortSignal; step?: number } = {},
  ) => {
    const step = bounds.step ?? 2
    const effect = { key: claim.key, node: 'a', epoch: claim.epoch, step, firstStep: 1, name: `t:${step}` }
    const signal = new AbortController().signal
    return store.transact(effect, { within, signal, isolation: 'read committed', ...bounds }, body)
  }
  /** A transaction that goes on until it is told to end. */
  const open = (store: StateStore, claim: Claim, bounds: Parameters<typeof transact>[3] = {}) => {
    const [inside, end] = [Promise.withResolvers<DatabaseSync>(), Promise.withResolvers<string>()]
    const body = (tx: unknown) => {
      inside.resolve(tx as DatabaseSync)
      return end.promise
    }
    return { done: transact(store, claim, body, bounds), inside: inside.promise, end: end.resolve }
  }

  it('is waited for as long as two of its own waits may take', () => {
    expect(made({ busyTimeout: 10_000 }).patience).toBe(LONGEST_ANSWER)
    expect(made({ busyTimeout: 50_000 }).patience).toBe(100_000)
  })

  it.each(['auto', 'inline', 'worker'] as const)('in memory has no thread and no lease (%s)', async (writer) => {
    const started = threads()
    const store = await opened({ writer }, ':memory:')
    await store.commit(batch(200))
    expect(started).not.toHaveBeenCalled()
    const node = { id: 'n', roles: [], lease: 1_000 }
    expect(store.keepAlive?.({ node, stall: 1, quiet: true, report: () => undefined })).toBeNull()
  })

  it('writes in this thread alone when it is told to', async () => {
    const started = threads()
    const store = await opened({ writer: 'inline' })
    await store.commit(batch(200))
    expect(started).not.toHaveBeenCalled()
  })

  it.each([
    ['fast at its best', 2, 0],
    ['slow', 3, 1],
  ])('begins with a thread only where the disk is slow: %s', async (_, best, count) => {
    const took = [9, 9, best, 9, 9, 9, 9, 9, 9]
    const run = Database.prototype.run
    vi.spyOn(Database.prototype, 'run').mockImplementation(function (this: Database, sql, ...values) {
      if (sql.includes('SET probes')) clock.advance(took.shift() ?? 1)
      return run.call(this, sql, ...values)
    })
    const started = threads()
    const closed = vi.spyOn(InlineRunner.prototype, 'close')
    const store = await opened()
    expect([took, started.mock.calls.length]).toEqual([[], count])
    // What it tried in this thread is closed.
    expect(closed).toHaveBeenCalledTimes(count)
    const stuck = vi.spyOn(WorkerRunner.prototype, 'unanswered')
    store.unanswered?.('task')
    expect(stuck).toHaveBeenCalledTimes(count)
    if (count > 0) return
    await store.commit(batch(47))
    expect(started).not.toHaveBeenCalled()
    await store.commit(batch(48))
    expect(started).toHaveBeenCalledOnce()
    await store.close()
    await expect(store.commit(batch(48))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(started).toHaveBeenCalledOnce()
  })

  it('takes no lock to find that there is nothing to do', async () => {
    const store = await opened({ busyTimeout: 0 })
    await store.submit([newTask('t')])
    const flow = { workflow: 'flow', version: '1' }
    for (const node of ['a', 'b', 'c']) {
      await store.claim({ node, runnable: [flow], limit: 1 })
      await store.leave(node)
    }
    const token = (await store.lead({ name: 'supervisor', node: 'n', ttl: 1_000 })) ?? 0
    using lock = new DatabaseSync(path)
    lock.exec('BEGIN IMMEDIATE')
    // It is suspected of the death of its owners, and waits for whoever tries it.
    expect(await store.claim({ node: 'n', runnable: [flow], limit: 1 })).toEqual([])
    expect(await store.takeWork({ node: 'n', agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 1 }] })).toEqual(
      [],
    )
    const rules = [{ workflow: null, result: 'success', age: 1 } as const]
    const nothing = { dropped: 0, more: false }
    expect(await store.prune({ name: 'supervisor', token, rules, limit: 1, records: 1 })).toEqual(nothing)
    await expect(store.submit([newTask('u')])).rejects.toMatchObject({ code: 'STORE_BUSY' })
    lock.exec('ROLLBACK')
    expect(await store.claim({ node: 'n', runnable: [flow], limit: 1, trial: true })).toMatchObject([{ id: 't' }])
  })

  it('wakes all that is due with the first claim, however few that takes', async () => {
    const store = await opened()
    await store.submit(['t', 'u', 'v'].map((id) => newTask(id, { startAt: clock.now() + 10 })))
    clock.advance(10)
    expect(await store.claim({ node: 'a', runnable: [{ workflow: 'flow', version: '1' }], limit: 1 })).toHaveLength(1)
    expect(await store.counts()).toMatchObject({ ready: 2 })
  })

  it('lets the loop turn between calls that follow each other', async () => {
    const store = await opened({}, ':memory:')
    const claim = await owned(store)
    let step = 2
    for (const call of [() => store.task('t'), () => transact(store, claim, () => '1', { step: ++step })]) {
      await settled()
      let turned = false
      setImmediate(() => {
        turned = true
      })
      for (let n = 0; n < 2; n++) {
        clock.advance(5)
        await call()
      }
      expect(turned).toBe(true)
    }
  })

  it('leaves nothing open behind it, and can be opened again', async () => {
    const store = await opened()
    const claim = await owned(store)
    expect(await transact(store, claim, () => '1')).toMatchObject({ ok: true })
    await store.close()
    expect(existsSync(`${path}-wal`)).toBe(false)
    await expect(store.task('t')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await expect(transact(store, claim, () => '1', { step: 3 })).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await store.open()
    expect(await transact(store, claim, () => '1', { step: 4 })).toMatchObject({ ok: true })
    expect(await store.changes()).toEqual(expect.any(Number))
  })

  it('begins no transaction in a file that was replaced', async () => {
    const store = await opened()
    const claim = await owned(store)
    renameSync(path, `${path}.old`)
    clock.advance(2_000)
    await expect(transact(store, claim, () => '1')).rejects.toMatchObject({ code: 'STORE_REPLACED' })
  })

  it('lets others read a file during a transaction, and waits for it in memory, where it would be part of it', async () => {
    for (const file of [path, ':memory:']) {
      const store = await opened({}, file)
      const claim = await owned(store)
      const { done, inside, end } = open(store, claim)
      await inside
      const order: string[] = []
      const found = store.task('t').then(() => order.push('read'))
      for (let n = 0; n < 5; n++) await settled()
      end('1')
      await done
      order.push('over')
      await found
      expect(order).toEqual(file === path ? ['read', 'over'] : ['over', 'read'])
    }
  })

  it('in memory looks for tasks that a transaction may have submitted; elsewhere others’ changes show', async () => {
    for (const file of [path, ':memory:']) {
      const store = await opened({}, file)
      const claim = await owned(store)
      const hints: (readonly Hint[])[] = []
      await transact(store, claim, () => '1', { step: 3 })
      store.watch?.((it) => hints.push(it), true)
      await transact(store, claim, () => '1')
      expect(hints).toEqual(file === path ? [] : [['tasks']])
    }
  })

  it('ends a transaction that is under way when it is closed, and begins none that waits', async () => {
    const store = await opened()
    const claim = await owned(store)
    const { done, inside, end } = open(store, claim)
    await inside
    const behind = transact(store, claim, () => '1', { step: 3 })
    await store.close()
    end('1')
    await expect(done).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await expect(behind).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  it('gives up a transaction for the reason it was told, though it was closed meanwhile', async () => {
    const store = await opened()
    const claim = await owned(store)
    const controller = new AbortController()
    const { done, inside } = open(store, claim, { signal: controller.signal })
    await inside
    await store.close()
    const reason = new Error('given up')
    controller.abort(reason)
    await expect(done).rejects.toBe(reason)
  })

  it('lets a function whose transaction was given up write nothing more', async () => {
    const store = await opened()
    const claim = await owned(store)
    const controller = new AbortController()
    const { done, inside } = open(store, claim, { signal: controller.signal })
    const tx = await inside
    controller.abort(new Error('given up'))
    await expect(done).rejects.toThrow('given up')
    expect(() => tx.exec('CREATE TABLE late (n)')).toThrow('ended')
  })

  it.each([
    ['as long as its attempt has', 500, 500],
    ['two seconds at most', within, 2_000],
  ])('lets a transaction hold it %s', async (_, most, held) => {
    const store = await opened()
    const claim = await owned(store)
    const { done, inside } = open(store, claim, { within: most })
    const given = done.catch((error: unknown) => error)
    await inside
    clock.advance(held - 1)
    await settled()
    expect(await Promise.race([given, 'held'])).toBe('held')
    clock.advance(1)
    expect(await given).toMatchObject({ code: 'STORE_BUSY', message: expect.stringContaining(`${held} ms`) })
  })

  it.each([
    ['as long as its attempt has', 500, 10_000],
    ['as long as the store waits', within, 500],
  ])('lets a transaction wait for its lock %s', async (_, most, busyTimeout) => {
    const store = await opened({ busyTimeout })
    const claim = await owned(store)
    using lock = new DatabaseSync(path)
    lock.exec('BEGIN IMMEDIATE')
    const begun = clock.monotonic()
    const waiting = transact(store, claim, () => '1', { within: most })
    await expect(advancing(clock, waiting)).rejects.toMatchObject({ code: 'STORE_BUSY' })
    expect(clock.monotonic() - begun).toBeGreaterThanOrEqual(500)
    expect(clock.monotonic() - begun).toBeLessThan(1_500)
    lock.exec('ROLLBACK')
  })

  it('says in its own words what refuses the end of a transaction', async () => {
    const store = await opened()
    const claim = await owned(store)
    const orphan = (tx: unknown) => {
      ;(tx as DatabaseSync).exec(`
        CREATE TABLE parents (n INTEGER PRIMARY KEY);
        CREATE TABLE children (n REFERENCES parents DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO children VALUES (1)`)
      return '1'
    }
    await expect(transact(store, claim, orphan)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await transact(store, claim, () => '2')).toEqual({ ok: true, answer: '2' })
  })
})
