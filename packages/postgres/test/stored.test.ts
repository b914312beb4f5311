import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { current, Member, released } from '../../triarch/test/update/release.ts'
import { begin, beginMore, finish, finishMore } from '../../triarch/test/update/states.ts'
import { inSchema } from '../src/schema.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'
import { rowsOf } from './dump.ts'

/** The release that wrote the dump, which stays when its code is gone. */
const OLD = '71e51d6'
const fixture = join(import.meta.dirname, 'fixtures', `${OLD}-store`)
/** What its tasks had done by then, and the token that one of them had handed out. */
const beside = ['journal', 'token']
/** What must not be empty in it. */
const tables = ['tasks', 'history', 'inbox', 'work', 'effects', 'locks', 'followers', 'schedules', 'nodes']
/** The inputs of its tasks name files of the folder in which the process works. */
const path = (name: string) => name

describe('a dump of a database of an earlier version', { timeout: 600_000 }, () => {
  const home = process.cwd()
  let folder: string
  let schema: string
  let member: Member | null
  const start = async (program: string) => {
    member = await Member.start(program, `${serverUrl()}#${schema}`, join(folder, 'journal'))
    return member
  }
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'triarch-stored-'))
    process.chdir(folder)
    schema = freshSchema()
    member = null
  })
  afterEach(async () => {
    await member?.kill()
    await dropSchema(schema)
    process.chdir(home)
    rmSync(folder, { recursive: true, force: true })
  })

  // TRIARCH_WRITE=1 npm test -- packages/postgres/test/stored: once for each release that is to be read for ever.
  it.runIf(process.env.TRIARCH_WRITE === '1' && !existsSync(fixture))('is written', async () => {
    const program = released(OLD, folder)
    const before = await start(program)
    await begin(before, path)
    await beginMore(before, await start(program), path)
    const index = join(dirname(program), 'node_modules/@triarch/postgres/migrations/index.js')
    const { migrations } = (await import(pathToFileURL(index).href)) as { migrations: string[] }
    const table = 'CREATE TABLE triarch.schema_version (version integer PRIMARY KEY, at timestamptz NOT NULL);'
    const rows = await withClient((client) => rowsOf(client, schema))
    mkdirSync(fixture, { recursive: true })
    writeFileSync(
      join(fixture, 'store.sql'),
      `${['CREATE SCHEMA triarch;', table, ...migrations, ...rows].join('\n')}\n`,
    )
    for (const name of beside) copyFileSync(join(folder, name), join(fixture, name))
  })

  it('is migrated, and every task in it, whatever its state, comes to its right end', async () => {
    const sql = readFileSync(join(fixture, 'store.sql'), 'utf8').replace('CREATE SCHEMA triarch;', '')
    const found = await withClient(async (client) => {
      await client.query(`CREATE SCHEMA "${schema}"`)
      await client.query(inSchema(sql, schema))
      const { rows } = await client.query(`SELECT DISTINCT status FROM "${schema}".tasks ORDER BY status`)
      for (const table of tables) {
        const { rowCount } = await client.query(`SELECT 1 FROM "${schema}".${table} LIMIT 1`)
        expect([table, rowCount]).toEqual([table, 1])
      }
      return rows.map(({ status }) => status)
    })
    expect(found).toEqual(['compensating', 'paused', 'running', 'scheduled', 'stopped'])
    for (const name of beside) copyFileSync(join(fixture, name), join(folder, name))
    const now = await start(current)
    await finish(now, path, join(folder, 'journal'))
    await finishMore(now)
    await now.stop()
  })
})
