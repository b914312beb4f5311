import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { StateStore } from '../../triarch/src/store/port.ts'
import { type HandClock, handClock } from '../../triarch/test/store/clock.ts'
import { postgres } from '../src/index.ts'
import { QueueVacuum } from '../src/queue-vacuum.ts'
import { inSchema } from '../src/schema.ts'
import type { Statement } from '../src/slot.ts'
import { freshSchema, serverUrl, withClient } from './database.ts'

// A snapshot that any other test has open in its database would keep what is dead here.
const database = freshSchema()
const url = serverUrl()
const own = Object.assign(new URL(url), { pathname: `/${database}` }).href
const sql = (text: string) => inSchema(text, 'triarch')
const onOwn = <T>(body: (client: pg.Client) => Promise<T>) => withClient(body, own)
let clock: HandClock
let store: StateStore
beforeAll(async () => {
  clock = handClock()
  await withClient((client) => client.query(`CREATE DATABASE ${database}`), url)
  store = postgres({ url: own, clock: 'environment' })(clock)
  await store.open()
  // Nobody else is to vacuum them meanwhile.
  await onOwn(async (client) => {
    for (const table of ['inbox', 'work'])
      await client.query(sql(`ALTER TABLE triarch.${table} SET (autovacuum_enabled = false)`))
  })
})
afterAll(async () => {
  await store.close()
  await withClient((client) => client.query(`DROP DATABASE ${database} WITH (FORCE)`), url)
})

/** Leaves so many dead letters, as many as that were consumed. */
async function consume(letters: number): Promise<void> {
  await onOwn(async (client) => {
    const add = `INSERT INTO triarch.inbox (task, control, kind, message) SELECT n, false, 'event', $1 FROM generate_series(1, $2::int) AS n`
    await client.query(sql(add), ['{}', letters])
    await client.query(sql('DELETE FROM triarch.inbox'))
    await client.query('SELECT pg_stat_force_next_flush()')
  })
}

async function about(what: 'vacuum_count' | 'dead_tuples'): Promise<number> {
  return onOwn(async (client) => {
    const { rows } = await client.query<{ n: string }>(
      sql(`SELECT pg_stat_get_${what}('triarch.inbox'::regclass) AS n`),
    )
    return Number(rows[0]?.n)
  })
}

/** Until it is so many more; what the server counts comes a moment later. */
async function vacuumed(since: number): Promise<void> {
  while ((await about('vacuum_count')) === since);
}

describe('the broom', () => {
  let said: string[]
  let fails: boolean
  beforeEach(() => {
    said = []
    fails = false
  })
  const broom = (client: pg.ClientBase) =>
    new QueueVacuum(clock, sql, async ({ sql: text }: Statement) => {
      if (text.startsWith('VACUUM')) said.push('vacuum')
      if (fails) throw new Error('no answer')
      return (await client.query({ text, rowMode: 'array' })).rows
    })
  /** How long after another it sweeps again (s), of so many times. */
  const waits = async (client: pg.ClientBase, times: number) => {
    const it = broom(client)
    await it.sweep()
    const found: number[] = []
    for (let second = 1; found.length < times; second++) {
      clock.advance(1_000)
      const before = said.length
      await it.sweep()
      if (said.length > before) found.push(second - found.reduce((sum, wait) => sum + wait, 0))
    }
    return found
  }

  it('leaves nothing of what was consumed for readers to walk over', async () => {
    await consume(12_000)
    expect(await about('dead_tuples')).toBeGreaterThanOrEqual(12_000)
    await onOwn(async (client) => broom(client).sweep())
    expect(await about('dead_tuples')).toBe(0)
  })

  it('sweeps again a second later, as long as it helps', async () => {
    expect(await onOwn((client) => waits(client, 3))).toEqual([1, 1, 1])
  })

  it('sweeps less and less often, while a snapshot keeps what is dead', async () => {
    await onOwn(async (other) => {
      await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
      await other.query('SELECT 1')
      await consume(12_000)
      expect(await onOwn((client) => waits(client, 7))).toEqual([2, 4, 8, 16, 32, 60, 60])
    })
    expect(await onOwn((client) => waits(client, 1))).toEqual([1])
  })

  it('sweeps less and less often where it may not', async () => {
    fails = true
    expect(await onOwn((client) => waits(client, 3))).toEqual([2, 4, 8])
  })

  it('waits for nobody who has a table to himself', async () => {
    await consume(12_000)
    await onOwn(async (other) => {
      await other.query('BEGIN')
      await other.query(sql('LOCK TABLE triarch.inbox IN SHARE MODE'))
      await onOwn(async (client) => broom(client).sweep())
      expect(await about('dead_tuples')).toBeGreaterThanOrEqual(12_000)
    })
    await onOwn(async (client) => broom(client).sweep())
  })
})

describe('a sweep of the leader', () => {
  const name = 'supervisor'
  const sweep = (token: number) => store.sweep({ name, token, limit: 10 })

  it('has the queues vacuumed once they are littered, and nobody else’s does', async () => {
    const token = (await store.lead({ name, node: 'a', ttl: 1_000_000 })) ?? 0
    const before = await about('vacuum_count')
    await sweep(token)
    await consume(9_000)
    await sweep(token)
    expect(await about('vacuum_count')).toBe(before)
    await consume(3_000)
    expect(await sweep(token + 1)).toBeNull()
    expect(await about('vacuum_count')).toBe(before)
    await sweep(token)
    await vacuumed(before)
    expect(await about('vacuum_count')).toBe(before + 1)
  })
})
