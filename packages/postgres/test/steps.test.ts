import type { Migration } from 'triarch/store'
import { beforeEach, describe, expect, it } from 'vitest'
import { advancing, handClock } from '../../triarch/test/store/clock.ts'
import type { Client } from '../src/connect.ts'
import { checkServer, prepare } from '../src/migrate.ts'
import { type PostgresOptions, settingsOf } from '../src/options.ts'
import { type Counting, counting } from './counting.ts'

describe('a server', () => {
  const good = {
    version: '160002',
    standby: false,
    read_only: 'off',
    synchronous: 'on',
    isolation: 'read committed',
    software: 'PostgreSQL 16.2',
    encoding: 'UTF8',
    locks: true,
  }
  const check = (change: object) =>
    checkServer({ query: async () => ({ rows: [{ ...good, ...change }] }) } as unknown as Client)

  it.each([
    [{ version: '130021' }, 'STORE_POSTGRES_UNSUPPORTED'],
    [{ version: '200000' }, 'STORE_POSTGRES_UNSUPPORTED'],
    [{ encoding: 'WIN1252' }, 'STORE_POSTGRES_UNSUPPORTED'],
    [{ encoding: 'SQL_ASCII' }, 'STORE_POSTGRES_UNSUPPORTED'],
    [{ locks: false }, 'STORE_POSTGRES_UNSUPPORTED'],
    [{ software: 'CockroachDB CCL v25.1.2' }, 'STORE_POSTGRES_UNSUPPORTED'],
    [{ software: 'PostgreSQL 15.2-YB-2.25.0.0 on x86_64' }, 'STORE_POSTGRES_UNSUPPORTED'],
    [{ standby: true }, 'STORE_READ_ONLY'],
    [{ read_only: 'on' }, 'STORE_READ_ONLY'],
    [{ synchronous: 'off' }, 'INVALID_OPTION'],
    [{ isolation: 'serializable' }, 'INVALID_OPTION'],
  ])('with %j is refused with %s', async (change, code) => {
    await expect(check(change)).rejects.toMatchObject({ code })
  })

  it.each([{}, { version: '140000' }, { version: '189999' }, { synchronous: 'local' }])(
    'with %j will do',
    async (change) => {
      await check(change)
    },
  )
})

describe('a schema', () => {
  let clock: Counting
  /** The migrations it has; null: it is not there. */
  let named: string[] | null
  /** The oldest code that it takes. */
  let oldest: number
  /** All that was asked, in short. */
  let asked: string[]
  /** Errors for the next steps. */
  let errors: string[]
  /** What somebody else does between our look and our turn. */
  let meanwhile: () => void

  const client = {
    async query(sql: string, values: unknown[] = []): Promise<{ rows: object[]; rowCount?: number }> {
      const tables = named === null ? [] : ['schema_version', 'migrations']
      if (sql.includes('pg_tables')) return { rows: tables.map((name) => ({ name })) }
      if (sql.includes('AS oldest')) return { rows: (named ?? []).map((name) => ({ name, oldest })) }
      if (sql.includes('pg_namespace')) return { rows: [], rowCount: named === null ? 0 : 1 }
      asked.push(`${sql.replace(/\s+/g, ' ').trim().slice(0, 60)} ${values.join()}`.trim())
      if (sql.includes('pg_advisory')) meanwhile()
      if (sql.includes('CREATE TABLE IF NOT EXISTS')) named ??= []
      const error = sql.startsWith('-- ') ? errors.shift() : undefined
      if (error) throw Object.assign(new Error('it'), { code: error })
      if (sql.includes('greatest(')) oldest = Math.max(oldest, values[0] as number)
      if (sql.includes('.migrations (name, at) VALUES')) named?.push(values[0] as string)
      return { rows: [] }
    },
  } as unknown as Client
  const settings = (options: PostgresOptions = {}) => ({
    ...settingsOf({ schema: 'own', patience: 1_000, ...options }),
    migrations,
  })
  const prepared = (options?: PostgresOptions) => advancing(clock, prepare(client, settings(options), clock))
  /** The steps that the code knows. */
  let migrations: Migration[]
  const steps = (...names: string[]) => {
    migrations = names.map((name) => ({ name, sql: `-- triarch.x ${name}` }))
  }
  const contracting = (name: string) => {
    for (const step of migrations) if (step.name === name) step.contracts = true
  }
  const [before, last, next] = ['0004', '0005', '0006'] as const
  const begin = 'BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeou'.slice(0, 60)
  const lock = 'SELECT pg_advisory_xact_lock(7431, hashtext($1)) own'
  const tables = 'CREATE TABLE IF NOT EXISTS "own".schema_version (version inte'.slice(0, 60)
  const raise = 'WITH raised AS (UPDATE "own".schema_version v SET version = greatest'.slice(0, 60)
  const one = (name: string) => [
    ...[begin, lock, tables, `-- "own".x ${name}`],
    `INSERT INTO "own".migrations (name, at) VALUES ($1, now()) ${name}`,
    `${raise} ${migrations.find((step) => step.name === name)?.contracts ? Number(name) : 0}`,
    'COMMIT',
  ]

  beforeEach(() => {
    clock = counting(handClock())
    named = [before]
    oldest = 0
    asked = []
    errors = []
    meanwhile = () => undefined
    steps(before, last, next)
  })

  it('is brought to ours step by step, each in a transaction of its own', async () => {
    await prepared()
    expect(asked).toEqual([...one(last), ...one(next)])
    asked = []
    await prepared()
    expect(asked).toEqual([])
  })

  it('is made when it is not there', async () => {
    named = null
    steps('0001')
    await prepared()
    expect(asked[2]).toBe('CREATE SCHEMA "own"')
    expect([named, oldest]).toEqual([['0001'], 0])
  })

  it('whose step contracts takes no code from then on that does not know the step', async () => {
    contracting(last)
    await prepared()
    expect([named, oldest]).toEqual([[before, last, next], 5])
    asked = []
    await prepared()
    expect(asked).toEqual([])
    steps(before)
    await expect(prepared()).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER', details: { found: 5, known: 4 } })
  })

  it('is left alone by who finds that others have done it meanwhile', async () => {
    meanwhile = () => {
      named = [before, last, next]
    }
    await prepared()
    expect(asked).toEqual([begin, lock, 'COMMIT'])
  })

  it('of newer code is not touched', async () => {
    named = [before, last, next, '9999']
    oldest = 9999
    const newer = { code: 'STORE_SCHEMA_NEWER', details: { found: 9999, known: 6 } }
    await expect(prepared()).rejects.toMatchObject(newer)
    oldest = 6
    await prepared()
    expect(asked).toEqual([])
  })

  it('whose tables somebody holds is tried again, ever more rarely, as long as patience lasts', async () => {
    errors = Array(50).fill('55P03')
    clock.random = () => 0
    const began: number[] = []
    meanwhile = () => began.push(clock.monotonic())
    await expect(prepared({ patience: 60_000 })).rejects.toMatchObject({
      code: 'STORE_BUSY',
      details: { migration: last },
    })
    expect(asked.filter((it) => it === 'ROLLBACK')).toHaveLength(began.length)
    const waits = began.slice(1).map((at, n) => at - (began[n] as number))
    expect(waits[0]).toBeGreaterThanOrEqual(125)
    expect(waits[1]).toBeGreaterThanOrEqual(250)
    expect(waits[1]).toBeLessThan(1_000)
    expect(waits.at(-1)).toBeGreaterThanOrEqual(2_500)
    expect(Math.max(...waits)).toBeLessThan(3_500)
    expect([(began.at(-1) as number) >= 60_000, (began.at(-2) as number) < 60_000]).toEqual([true, true])
  })

  it('whose tables somebody holds is given up at once without patience', async () => {
    errors = ['55P03']
    await expect(prepare(client, settings({ patience: 0 }), clock)).rejects.toMatchObject({ code: 'STORE_BUSY' })
  })

  it('whose tables are free again is brought to ours, and no wait is left', async () => {
    errors = ['55P03', '40P01']
    await prepared()
    expect(named).toEqual([before, last, next])
    expect(clock.waiting).toBe(0)
  })

  it('that cannot be is given up at once', async () => {
    errors = ['42501']
    await expect(prepared()).rejects.toMatchObject({ code: '42501' })
    expect(asked.at(-1)).toBe('ROLLBACK')
  })

  it('is waited for, refused, or good enough, as the options say', async () => {
    const old = { code: 'STORE_SCHEMA_OLD', details: { pending: [last, next] } }
    await expect(prepared({ migrate: 'refuse' })).rejects.toMatchObject(old)
    expect(clock.monotonic()).toBeLessThan(500)
    await expect(prepared({ migrate: 'wait', patience: 2_000 })).rejects.toMatchObject(old)
    expect(clock.monotonic()).toBeGreaterThanOrEqual(2_000)
    await expect(prepare(client, settings({ migrate: 'wait', patience: 0 }), clock)).rejects.toMatchObject(old)
    const waiting = prepared({ migrate: 'wait', patience: 10_000 })
    named = [before, last, next]
    await waiting
    await prepared({ migrate: 'refuse' })
    expect(asked).toEqual([])
  })
})
