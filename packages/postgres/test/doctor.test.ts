// What `triarch doctor` says of a PostgreSQL, on servers that are ill.
import pg from 'pg'
import { migrate } from 'triarch'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postgresFindings } from '../../cli/src/doctor/postgres.ts'
import { replication } from '../../cli/src/doctor/upkeep.ts'
import { postgres } from '../src/index.ts'
import { withClient } from './database.ts'
import { pooler } from './pooler.ts'
import { type Server, startServer } from './server.ts'

/** So few that a test can take them all. */
const CONNECTIONS = 14
const schema = 'shop'
let server: Server
beforeAll(async () => {
  server = await startServer({ durable: true, flags: [`max_connections=${CONNECTIONS}`, 'autovacuum=off'] })
  await migrate(postgres({ url: server.url, schema }))
})
afterAll(() => server.stop())

const query = (...texts: string[]) =>
  withClient(async (client) => {
    for (const text of texts) await client.query(text)
  }, server.url)
/** `null`: there is none of that name. */
const verdict = async (check: string, url = server.url, long?: number) => {
  const { verdict, found } = (await postgresFindings(url, schema, long)).find((one) => one.check === check) ?? {}
  return verdict === undefined ? null : `${verdict}: ${found}`
}
const as = (role: string) => Object.assign(new URL(server.url), { username: role }).href

it('settings that lose what was acknowledged, or make Triarch wait for others, are told of', async () => {
  const careless = ['fsync', 'full_page_writes', 'synchronous_commit'].map((name) => `${name}=off`)
  const other = await startServer({ flags: [...careless, 'default_transaction_isolation=serializable'] })
  try {
    const found = await postgresFindings(other.url, 'public')
    const of = (check: string) => found.filter((one) => one.check === check).map(({ verdict, found }) => `${verdict}: ${found}`) // biome-ignore format: a row
    for (const check of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      expect([await verdict(check)]).toEqual(['ok: on'])
      expect(of(check)).toEqual(['fail: off'])
    }
    expect([await verdict('isolation')]).toEqual(['ok: read committed'])
    expect(of('isolation')).toEqual(['warn: serializable'])
  } finally {
    await other.stop()
  }
})

it('connections that are nearly all taken are told of', async () => {
  expect(await verdict('connections')).toMatch(/^ok: /)
  const clients = Array.from({ length: CONNECTIONS - 2 }, () => new pg.Client({ connectionString: server.url }))
  try {
    for (const client of clients) await client.connect()
    expect(await verdict('connections')).toBe(`warn: ${CONNECTIONS - 1} of ${CONNECTIONS}`)
  } finally {
    for (const client of clients) await client.end()
  }
})

it('a role that may not use the schema, or not its tables, is told so', async () => {
  await query('CREATE ROLE guest LOGIN')
  expect(await verdict('rights', as('guest'))).toBe(`fail: the role may not use schema ${schema}`)
  await query(`GRANT USAGE ON SCHEMA ${schema} TO guest`, `GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO guest`, `REVOKE DELETE ON ${schema}.nodes FROM guest`) // biome-ignore format: a row
  expect(await verdict('rights', as('guest'))).toMatch(/^ok: /)
  expect(await verdict('tables', as('guest'))).toBe('fail: the role may not use nodes')
  await query(`GRANT DELETE ON ${schema}.nodes TO guest`)
  expect(await verdict('tables', as('guest'))).toMatch(/^ok: /)
})

it('a transaction that is open for long, and rows that are dead and stay, are told of', async () => {
  expect(await verdict('transactions')).toMatch(/^ok: /)
  expect(await verdict('bloat')).toBe('ok: autovacuum keeps up')
  await withClient(async (client) => {
    await client.query('BEGIN')
    await client.query('SELECT 1')
    expect(await verdict('transactions', server.url, 0)).toMatch(/^warn: one is open for 0 s$/)
  }, server.url)
  await query(`CREATE TABLE ${schema}.own AS SELECT generate_series(1, 20000) AS n`, `DELETE FROM ${schema}.own`, 'SELECT pg_stat_force_next_flush()', 'SELECT 1') // biome-ignore format: a row
  expect(await verdict('bloat')).toBe('warn: more rows are dead than live in own')
})

it('notifications that a pooler of transactions swallows are missed', async () => {
  expect(await verdict('LISTEN')).toBe('ok: notifications come')
  await using pool = await pooler(server.url, 3)
  expect(await verdict('LISTEN', pool.url)).toBe('warn: no notification comes')
})

it('a standby is told from what takes writes', async () => {
  const standby = await startServer({ standby: true })
  try {
    expect(await verdict('server')).toBe('ok: it takes writes')
    const { rows } = await withClient((client) => client.query('SELECT pg_is_in_recovery() AS standby'), standby.url)
    expect(rows).toEqual([{ standby: true }])
    // It was made empty: whoever asks for a schema that there is not hears so. The one that every database has does.
    const found = await postgresFindings(standby.url, 'public')
    expect(found.find(({ check }) => check === 'server')).toMatchObject({ verdict: 'fail', found: 'it is a standby' })
  } finally {
    await standby.stop()
  }
})

it('standbys are judged by how far they are behind', () => {
  const standby = (name: string, behind: number) => ({ name, state: 'streaming', behind })
  expect(replication([])).toMatchObject({ verdict: 'ok' })
  expect(replication([standby('a', 0), standby('b', 1024 ** 2)])).toMatchObject({ verdict: 'ok', found: '2 follow' })
  const late = replication([standby('a', 0), standby('b', 65 * 1024 ** 2)])
  expect(late).toMatchObject({ verdict: 'warn', found: 'b is far behind' })
})
