import { existsSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { refuseOld } from '../../src/store/sqlite/database.ts'
import { type SqliteOptions, sqlite } from '../../src/store/sqlite/index.ts'
import { advancing, handClock } from './clock.ts'
import { storeConformance } from './conformance.ts'
import { list } from './listing.ts'
import { newTask, owned, snapshot, transition } from './samples.ts'
import { inFile, inMemory } from './sqlite-subject.ts'

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'triarch-'))
}

storeConformance('the SQLite store in memory', inMemory, { shared: false })
storeConformance('the SQLite store in both', inFile('auto'), { shared: true })

describe('the SQLite store', () => {
  const clock = handClock()
  const roots: string[] = []
  const path = () => {
    roots.push(folder())
    return join(roots.at(-1) ?? '', 'store.db')
  }
  const opened = async (file: string, options?: SqliteOptions) => {
    const store = sqlite(file, options)(clock)
    await store.open()
    return store
  }
  afterEach(() => {
    for (const root of roots.splice(0)) rmSync(root, { recursive: true })
  })

  it('refuses an SQLite with known faults', () => {
    for (const version of ['3.40.1', '3.51.2', '2.99.99']) {
      expect(() => refuseOld(version)).toThrow(expect.objectContaining({ code: 'STORE_SQLITE_TOO_OLD' }))
    }
    for (const version of ['3.51.3', '3.53.0', '4.0.0']) expect(() => refuseOld(version)).not.toThrow()
  })

  it.each(['auto', 'inline', 'worker'] as const)(
    'takes nothing more once its file was deleted or replaced (%s)',
    async (writer) => {
      for (const replace of [false, true]) {
        const [file, other] = [path(), path()]
        await (await opened(other)).close()
        const store = await opened(file, { writer })
        await store.submit([newTask('t')])
        clock.advance(2_000)
        expect(await store.task('t')).toMatchObject({ id: 't' })
        if (replace) renameSync(other, file)
        else rmSync(file)
        clock.advance(2_000)
        const gone = { code: 'STORE_REPLACED', message: expect.stringContaining(replace ? 'replaced' : 'deleted') }
        await expect(store.submit([newTask('u')])).rejects.toMatchObject(gone)
        await expect(store.heartbeat({ id: 'n', roles: [], lease: 1 })).rejects.toMatchObject(gone)
        await store.close()
      }
    },
  )

  it.each(['auto', 'inline', 'worker'] as const)('takes nothing more once its log was deleted (%s)', async (writer) => {
    for (const part of ['-wal', '-shm']) {
      const file = path()
      const store = await opened(file, { writer })
      await store.submit([newTask('t')])
      clock.advance(2_000)
      expect(await store.task('t')).toMatchObject({ id: 't' })
      rmSync(`${file}${part}`)
      clock.advance(2_000)
      const gone = { code: 'STORE_REPLACED', message: expect.stringContaining(`${part}" was deleted`) }
      await expect(store.submit([newTask('u')])).rejects.toMatchObject(gone)
      await store.close()
    }
  })

  it.each(['auto', 'inline', 'worker'] as const)(
    'takes nothing more once the log of a file behind a link was deleted (%s)',
    async (writer) => {
      const [file, link] = [path(), path()]
      symlinkSync(file, link)
      const store = await opened(link, { writer })
      await store.submit([newTask('t')])
      clock.advance(2_000)
      expect(await store.task('t')).toMatchObject({ id: 't' })
      rmSync(`${file}-wal`)
      clock.advance(2_000)
      await expect(store.submit([newTask('u')])).rejects.toMatchObject({ code: 'STORE_REPLACED' })
      await store.close()
    },
  )

  it('takes nothing more once a link leads to another file', async () => {
    const [file, other, link] = [path(), path(), path()]
    await (await opened(other)).close()
    symlinkSync(file, link)
    const store = await opened(link)
    rmSync(link)
    symlinkSync(other, link)
    clock.advance(2_000)
    await expect(store.submit([newTask('u')])).rejects.toMatchObject({ code: 'STORE_REPLACED' })
    await store.close()
  })

  it('refuses a URI', () => {
    for (const uri of ['file:store.db', 'file:/tmp/store.db?nolock=1'])
      expect(() => sqlite(uri)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  it('goes on with the same file when the process changes its directory', async () => {
    const file = path()
    const before = process.cwd()
    const store = sqlite(relative(before, file))(clock)
    process.chdir(folder())
    try {
      await store.open()
      await store.submit([newTask('t')])
      await store.close()
      expect(existsSync(file)).toBe(true)
    } finally {
      process.chdir(before)
    }
  })

  it.each(['auto', 'inline', 'worker'] as const)('says which file cannot be opened, and why (%s)', async (writer) => {
    const file = path()
    const [folder, foreign, missing] = [dirname(file), `${file}.txt`, join(file, 'nowhere', 'store.db')]
    writeFileSync(foreign, 'these are no tables at all, '.repeat(200))
    for (const path of [folder, foreign, missing]) {
      for (const migrate of ['auto', 'wait'] as const) {
        const opening = opened(path, { writer, migrate })
        await expect(opening).rejects.toMatchObject({
          ...{ code: 'STORE_FAILED', details: { path } },
          message: expect.stringContaining(`the file "${path}" cannot be opened: `),
        })
      }
    }
  })

  it.each([
    ['no path', [undefined], 'INVALID_OPTION'],
    ['an empty path, which would be a file that SQLite deletes', [''], 'INVALID_OPTION'],
    ['a path with NUL', ['a\0b.db'], 'INVALID_OPTION'],
    ['something else for a path', [{ path: 'a.db' }], 'INVALID_OPTION'],
    ['options that are none', ['a.db', 'worker'], 'INVALID_OPTION'],
    ['null for options', ['a.db', null], 'INVALID_OPTION'],
    ['an option that does not exist', ['a.db', { busyTimeOut: 5 }], 'UNKNOWN_OPTION'],
    ['a writer that does not exist', ['a.db', { writer: 'thread' }], 'INVALID_OPTION'],
    ['a busyTimeout that is no number', ['a.db', { busyTimeout: '10s' }], 'INVALID_OPTION'],
    ['a busyTimeout below 0', ['a.db', { busyTimeout: -1 }], 'INVALID_OPTION'],
    ['a way to migrate that does not exist', ['a.db', { migrate: 'later' }], 'INVALID_OPTION'],
  ])('refuses %s at the call', (_, given, code) => {
    expect(() => sqlite(...(given as [string]))).toThrow(expect.objectContaining({ code }))
  })

  it('is migrated once when many open it at the same time', async () => {
    const file = path()
    const writers = ['inline', 'worker', 'inline', 'worker', 'worker'] as const
    const opening = Promise.all(writers.map((writer) => opened(file, { writer })))
    const stores = await advancing(clock, opening)
    await stores[0]?.submit([newTask('t')])
    for (const store of stores) expect(await store.task('t')).not.toBeNull()
    for (const store of stores) await store.close()
  })

  it.each(['inline', 'worker'] as const)(
    'waits for a transaction of this very process (%s)',
    async (writer) => {
      const file = path()
      const store = await opened(file, { writer })
      using database = new DatabaseSync(file)
      database.exec('BEGIN IMMEDIATE')
      void store.submitIn(database, [newTask('t')])
      const submitted = store.submit([newTask('u')])
      await new Promise((resolve) => setImmediate(resolve))
      expect(await store.task('u')).toBeNull()
      database.exec('COMMIT')
      expect(await advancing(clock, submitted)).toMatchObject([{ created: true }])
      expect(await store.task('t')).not.toBeNull()
      await store.close()
    },
    5_000,
  )

  it.each(['inline', 'worker'] as const)('gives up on a transaction that does not end (%s)', async (writer) => {
    const file = path()
    const store = await opened(file, { writer, busyTimeout: 100 })
    using database = new DatabaseSync(file)
    database.exec('BEGIN IMMEDIATE')
    await expect(advancing(clock, store.submit([newTask('t')]))).rejects.toMatchObject({ code: 'STORE_BUSY' })
    database.exec('ROLLBACK')
    expect(await store.submit([newTask('t')])).toMatchObject([{ created: true }])
    await store.close()
  })

  it('replaces its thread when that dies, and refuses what it had in hand', async () => {
    const file = path()
    const threads: Worker[] = []
    const noted = (thread: Worker) => threads.push(thread)
    process.on('worker', noted)
    const store = await opened(file, { writer: 'worker' })
    expect(await store.submit([newTask('before')])).toMatchObject([{ created: true }])
    using lock = new DatabaseSync(file)
    lock.exec('BEGIN IMMEDIATE')
    const waiting = expect(store.submit([newTask('t')])).rejects.toMatchObject({ code: 'STORE_UNANSWERED' })
    await threads[0]?.terminate()
    await waiting
    lock.exec('ROLLBACK')
    const [rows] = await Promise.all([list(store, { limit: 10, order: 'oldest' }), store.submit([newTask('u')])])
    expect(rows.map(({ id }) => id)).toContain('before')
    expect(await store.task('u')).not.toBeNull()
    expect(threads).toHaveLength(2)
    await threads[1]?.terminate()
    await store.close()
    await expect(store.task('u')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    process.off('worker', noted)
  })

  it('takes only a connection in a transaction on its own tables', async () => {
    const file = path()
    const store = await opened(file)
    using ours = new DatabaseSync(file)
    using foreign = new DatabaseSync(':memory:')
    foreign.exec('BEGIN')
    for (const transaction of [ours, foreign]) {
      expect(() => store.submitIn(transaction, [newTask('t')])).toThrow(
        expect.objectContaining({ code: 'STORE_TRANSACTION_INVALID' }),
      )
    }
    ours.exec('BEGIN')
    expect(store.submitIn(ours, [newTask('t')])).toEqual([{ created: true, key: 1 }])
    const again = [{ created: false, key: 1, first: newTask('t').events }]
    expect(store.submitIn(ours, [newTask('t')])).toEqual(again)
    // What it once prepared it has.
    const prepare = vi.spyOn(ours, 'prepare')
    expect(store.submitIn(ours, [newTask('t')])).toEqual(again)
    expect(prepare).not.toHaveBeenCalled()
    ours.exec('ROLLBACK')
    using reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('BEGIN')
    expect(() => store.submitIn(reader, [newTask('t')])).toThrow(expect.objectContaining({ code: 'STORE_READ_ONLY' }))
    await store.close()
  })

  it('writes nothing of a batch that breaks', async () => {
    const store = await opened(path())
    const claim = await owned(store)
    const broken = transition(claim, { seq: 3, snapshot: snapshot({ failures: 'many' as never }) })
    await expect(store.commit([transition(claim), broken])).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await store.records('t', 0, 10)).toHaveLength(1)
    expect(await store.commit([transition(claim)])).toMatchObject([{ ok: true }])
    await store.close()
  })

  it('shows its tasks in the words of the pattern', async () => {
    const file = path()
    const store = await opened(file)
    const t = await owned(store)
    await store.commit([transition(t, { snapshot: snapshot({ failures: 2, deadline: 5 }) })])
    await store.submit([newTask('u')])
    using database = new DatabaseSync(file)
    expect(database.prepare('SELECT * FROM sas_tasks').all()).toEqual([
      { task_id: 't', locked_by: 'a', complete_by: 5, process_state: 'Processing', failure_count: 2 },
      { task_id: 'u', locked_by: null, complete_by: null, process_state: 'Pending', failure_count: 0 },
    ])
    await store.close()
  })
})
