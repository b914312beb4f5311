import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { current, Member, released } from './release.ts'
import { begin, beginMore, finish, finishMore } from './states.ts'

/** The release that wrote the file, which stays when its code is gone. */
const OLD = '71e51d6'
const fixture = join(import.meta.dirname, 'fixtures', `${OLD}-store`)
/** What its tasks had done by then, and the token that one of them had handed out. */
const beside = ['journal', 'token']
/** What must not be empty in it. */
const tables = ['tasks', 'history', 'inbox', 'work', 'effects', 'locks', 'followers', 'schedules', 'nodes']
/** The inputs of its tasks name files of the folder in which the process works. */
const path = (name: string) => name

describe('a database file of an earlier version', { timeout: 600_000 }, () => {
  const home = process.cwd()
  let folder: string
  let member: Member | null
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'triarch-stored-'))
    process.chdir(folder)
    member = null
  })
  afterEach(async () => {
    await member?.kill()
    process.chdir(home)
    rmSync(folder, { recursive: true, force: true })
  })

  // TRIARCH_WRITE=1 npm test -- packages/triarch/test/update/stored: once for each release that is to be read for ever.
  it.runIf(process.env.TRIARCH_WRITE === '1' && !existsSync(fixture))('is written', async () => {
    const store = join(folder, 'store.db')
    const old = () => Member.start(released(OLD, folder), store, join(folder, 'journal'))
    member = await old()
    await begin(member, path)
    await beginMore(member, await old(), path)
    {
      using database = new DatabaseSync(store)
      database.exec(`VACUUM INTO '${join(folder, 'whole.db')}'`)
    }
    mkdirSync(fixture)
    writeFileSync(join(fixture, 'store.db.gz'), gzipSync(readFileSync(join(folder, 'whole.db'))))
    for (const name of beside) copyFileSync(join(folder, name), join(fixture, name))
  })

  it('is migrated, and every task in it, whatever its state, comes to its right end', async () => {
    const store = join(folder, 'store.db')
    writeFileSync(store, gunzipSync(readFileSync(join(fixture, 'store.db.gz'))))
    {
      using database = new DatabaseSync(store)
      const holds = (table: string) => database.prepare(`SELECT 1 FROM triarch_${table} LIMIT 1`).get() !== undefined
      expect(tables.filter((table) => !holds(table))).toEqual([])
      const statuses = database.prepare('SELECT DISTINCT status FROM triarch_tasks ORDER BY status').all()
      expect(statuses.map(({ status }) => status)).toEqual([
        'compensating',
        'paused',
        'running',
        'scheduled',
        'stopped',
      ])
    }
    for (const name of beside) copyFileSync(join(fixture, name), join(folder, name))
    member = await Member.start(current, store, join(folder, 'journal'))
    await finish(member, path, join(folder, 'journal'))
    await finishMore(member)
    await member.stop()
  })
})
