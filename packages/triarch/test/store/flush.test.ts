import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ClaimRequest } from '../../src/store/port.ts'
import { claim } from '../../src/store/sqlite/claim.ts'
import { commit } from '../../src/store/sqlite/commit.ts'
import type { Database } from '../../src/store/sqlite/database.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { submit } from '../../src/store/sqlite/submit.ts'
import { flow, newTask, released, transition } from './samples.ts'

const now = 1_800_000_000_000
const request: ClaimRequest = { node: 'a', runnable: [flow], limit: 10 }

describe('a claim in a SQLite file', () => {
  let root: string
  let database: Database
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'triarch-'))
    database = openDatabase(join(root, 'store.db'), 0)
  })
  afterEach(() => {
    vi.restoreAllMocks()
    database.close()
    rmSync(root, { recursive: true })
  })
  const level = () => Object.values(database.get<object>('PRAGMA synchronous') ?? {})[0]
  /** How the claim was committed, and what it took. */
  const claimed = (change: Partial<ClaimRequest> = {}, at = now) => {
    let flushed = true
    const exec = DatabaseSync.prototype.exec
    vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
      if (sql === 'PRAGMA synchronous = NORMAL') flushed = false
      exec.call(this, sql)
    })
    const claims = claim(database, at, { ...request, ...change })
    vi.restoreAllMocks()
    return { flushed, epochs: claims.map(({ epoch }) => epoch), claims }
  }

  it('waits for no flush where nobody had the one task before: it does nothing before it has a record', () => {
    submit(database, now, [newTask('t')])
    expect(claimed()).toMatchObject({ flushed: false, epochs: [1] })
    expect(level()).toBe(2)
  })

  it('is flushed where somebody had it: attempts may begin without another record', () => {
    submit(database, now, [newTask('t')])
    const [first] = claimed().claims
    if (!first) throw new Error('there was a task to claim')
    commit(database, now, [transition(first, { release: { ...released, ready: true } })])
    expect(claimed()).toMatchObject({ flushed: true, epochs: [2] })
  })

  it('is flushed for several tasks, and for one that has slept', () => {
    submit(database, now, [newTask('t'), newTask('u')])
    expect(claimed()).toMatchObject({ flushed: true, epochs: [1, 1] })
    submit(database, now, [newTask('late', { startAt: now + 10 })])
    expect(claimed({}, now + 20)).toMatchObject({ flushed: true, epochs: [1] })
    expect(claimed()).toMatchObject({ flushed: true, epochs: [] })
  })

  it('leaves a connection that flushes, though it fails', () => {
    const failing = () =>
      database.unflushed(() => {
        throw new Error('no')
      })
    expect(failing).toThrow('no')
    expect(level()).toBe(2)
    expect(database.connection.isTransaction).toBe(false)
  })
})
