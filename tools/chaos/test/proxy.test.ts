// The proxy against a real PostgreSQL and the plain client.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DatabaseServer } from '../../../examples/orders/database/server.ts'
import { FaultProxy } from '../proxy/proxy.ts'

let dir: string
let database: DatabaseServer
let direct: pg.Client
let proxy: FaultProxy
const clients: pg.Client[] = []

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'triarch-proxy-'))
  database = await DatabaseServer.create(dir)
  direct = await dial(database.port)
})

afterAll(async () => {
  await direct?.end()
  await database?.stop('immediate')
  rmSync(dir, { recursive: true, force: true })
})

beforeEach(async () => {
  proxy = await FaultProxy.start(database.port)
  await direct.query('DROP TABLE IF EXISTS notes')
  await direct.query('CREATE TABLE notes (text text)')
})

afterEach(async () => {
  await proxy.close()
  await Promise.all(clients.splice(0).map((client) => client.end().catch(() => undefined)))
})

async function dial(port: number): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url(port) })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function through(): Promise<pg.Client> {
  const client = await dial(proxy.port)
  clients.push(client)
  return client
}

async function notes(): Promise<string[]> {
  return (await direct.query('SELECT text FROM notes ORDER BY text')).rows.map(({ text }) => text)
}

const never = new AbortController().signal

describe('the proxy', () => {
  it('passes on what it is given, in both protocols, large and small', async () => {
    const client = await through()
    const large = 'x'.repeat(3_000_000)
    expect((await client.query('SELECT 1 AS one; SELECT 2 AS two')) as unknown).toHaveLength(2)
    expect((await client.query('SELECT $1::text AS text', [large])).rows[0].text).toBe(large)
    await expect(client.query('SELECT nonsense')).rejects.toMatchObject({ code: '42703' })
    const prepared = { name: 'echo', text: 'SELECT $1::int AS n' }
    for (const n of [1, 2]) expect((await client.query({ ...prepared, values: [n] })).rows[0].n).toBe(n)
  })

  it('declines encryption, so that it can read along', async () => {
    const client = new pg.Client({ connectionString: database.url(proxy.port), ssl: true })
    await expect(client.connect()).rejects.toThrow('does not support SSL')
  })

  it('swallows the answer to COMMIT: it is done, the client never hears of it, and its connection breaks', async () => {
    const client = await through()
    const swallowed = proxy.swallow(never)
    await client.query('BEGIN')
    await client.query('INSERT INTO notes VALUES ($1)', ['kept'])
    await expect(client.query('COMMIT')).rejects.toThrow()
    expect(await swallowed).toEqual({ name: '', sql: 'COMMIT' })
    expect(await notes()).toEqual(['kept'])
    await expect(client.query('SELECT 1')).rejects.toThrow()
    const next = await through()
    await next.query("INSERT INTO notes VALUES ('one answer only')")
  })

  it.each([
    ['one by the simple protocol', { text: "INSERT INTO notes VALUES ('kept')" }],
    ['one with parameters', { text: 'INSERT INTO notes VALUES ($1)', values: ['kept'] }],
    ['a prepared one', { name: 'note', text: 'INSERT INTO notes VALUES ($1)', values: ['kept'] }],
    [
      'one that writes on its way to a result',
      { text: 'WITH i AS (INSERT INTO notes VALUES ($1) RETURNING text) SELECT * FROM i', values: ['kept'] },
    ],
    ['a whole transaction in one message', { text: "BEGIN; INSERT INTO notes VALUES ('kept'); COMMIT" }],
  ])('swallows the answer to a statement that is its own transaction: %s', async (_, query) => {
    const client = await through()
    const swallowed = proxy.swallow(never)
    await expect(client.query(query)).rejects.toThrow()
    expect((await swallowed)?.sql).toBe(query.text)
    expect(await notes()).toEqual(['kept'])
  })

  it('takes a call of a function that writes for writing, unless it found nothing to do', async () => {
    await direct.query(`CREATE OR REPLACE FUNCTION note(told text) RETURNS SETOF text LANGUAGE sql AS
      'INSERT INTO notes SELECT told WHERE told IS NOT NULL RETURNING text'`)
    const own = await FaultProxy.start(database.port, new Set(['public.note']))
    const client = await dial(own.port)
    const swallowed = own.swallow(never)
    expect((await client.query('SELECT * FROM public.note(NULL)')).rows).toEqual([])
    await expect(client.query('SELECT * FROM public.note($1)', ['kept'])).rejects.toThrow()
    expect((await swallowed)?.sql).toContain('public.note')
    expect(await notes()).toEqual(['kept'])
    await own.close()
  })

  it('swallows only what is wanted, when something is', async () => {
    const client = await through()
    const swallowed = proxy.swallow(never, ({ sql }) => sql.includes('kept'))
    await client.query("INSERT INTO notes VALUES ('another')")
    await expect(client.query("INSERT INTO notes VALUES ('kept')")).rejects.toThrow()
    expect((await swallowed)?.sql).toContain('kept')
    expect(await notes()).toEqual(['another', 'kept'])
  })

  it('swallows nothing but commits', async () => {
    const client = await through()
    const stop = new AbortController()
    const swallowed = proxy.swallow(stop.signal)
    await client.query('SELECT text FROM notes FOR UPDATE')
    await client.query("SELECT 'delete from notes' AS text -- insert into notes")
    await expect(client.query('INSERT INTO notes SELECT 1/0')).rejects.toMatchObject({ code: '22012' })
    await client.query('BEGIN')
    await client.query("INSERT INTO notes VALUES ('gone')")
    await client.query('ROLLBACK')
    await client.query('BEGIN')
    await expect(client.query('nonsense')).rejects.toMatchObject({ code: '42601' })
    expect((await client.query('COMMIT')).command).toBe('ROLLBACK')
    stop.abort()
    expect(await swallowed).toBeNull()
    await client.query("INSERT INTO notes VALUES ('disarmed')")
    expect(await notes()).toEqual(['disarmed'])
  })

  it('cuts connections, and takes new ones', async () => {
    const client = await through()
    const asleep = expect(client.query('SELECT pg_sleep(60)')).rejects.toThrow()
    await expect.poll(async () => (await direct.query(sleepers)).rows[0].n).toBe('1')
    expect(proxy.cut()).toBe(1)
    await asleep
    await (await through()).query('SELECT 1')
  })

  it('refuses connections until it admits them again', async () => {
    await through()
    proxy.refuse()
    await expect(dial(proxy.port)).rejects.toThrow()
    proxy.admit()
    await through()
  })

  it('lets nothing through while it stalls, neither old connections nor new ones, and all of it afterwards', async () => {
    const client = await through()
    proxy.stall()
    let heard = 0
    const answers = [client.query("INSERT INTO notes VALUES ('late')"), dial(proxy.port).then((it) => clients.push(it))]
    for (const answer of answers) void answer.then(() => heard++)
    // A round trip to the same server has room for many of these.
    for (let i = 0; i < 20; i++) await direct.query('SELECT 1')
    expect([heard, await notes()]).toEqual([0, []])
    proxy.flow()
    await Promise.all(answers)
    expect(await notes()).toEqual(['late'])
  })

  it('lets nothing through in one direction alone: what is asked takes effect, and what is answered comes late', async () => {
    const client = await through()
    proxy.stall('server')
    let heard = false
    const answer = client.query("INSERT INTO notes VALUES ('unanswered')").then(() => {
      heard = true
    })
    await expect.poll(notes).toEqual(['unanswered'])
    expect(heard).toBe(false)
    proxy.flow()
    await answer
    proxy.stall('client')
    const unasked = client.query("INSERT INTO notes VALUES ('unasked')")
    for (let i = 0; i < 20; i++) await direct.query('SELECT 1')
    expect(await notes()).toEqual(['unanswered'])
    proxy.flow()
    await unasked
  })

  it('passes on what it does not understand, where it is told that no database is there', async () => {
    const echo = createServer((socket) => socket.pipe(socket).on('error', () => undefined))
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    const opaque = await FaultProxy.start((echo.address() as AddressInfo).port, null)
    const socket = connect(opaque.port, '127.0.0.1')
    const sent = Buffer.from('GET / HTTP/1.1\r\n\0\xff'.repeat(5_000), 'latin1')
    let heard = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      heard = Buffer.concat([heard, chunk])
    })
    socket.write(sent)
    await expect.poll(() => heard.length).toBe(sent.length)
    expect(heard.equals(sent)).toBe(true)
    const closed = once(socket, 'close')
    opaque.cut({ reset: false })
    await closed
    await opaque.close()
    echo.close()
  })

  it('delays without loss or disorder', async () => {
    const client = await through()
    proxy.delay(40)
    const began = performance.now()
    await client.query('SELECT 1')
    expect(performance.now() - began).toBeGreaterThanOrEqual(79)
    const slow = client.query("INSERT INTO notes VALUES ('first')")
    proxy.delay(0)
    await slow
    await client.query("INSERT INTO notes SELECT 'second' WHERE EXISTS (SELECT FROM notes)")
    expect(await notes()).toEqual(['first', 'second'])
  })

  it('ends a connection that does not speak the protocol, and nothing else', async () => {
    const client = await through()
    const { connect } = await import('node:net')
    const stranger = connect(proxy.port, '127.0.0.1')
    const gone = new Promise((resolve) => stranger.once('close', resolve))
    stranger.on('error', () => undefined)
    stranger.write('GET / HTTP/1.1\r\nhost: example.com\r\n\r\n'.repeat(10))
    await gone
    await client.query('SELECT 1')
  })
})

const sleepers = "SELECT count(*) AS n FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"

describe('the database', () => {
  it.each(['fast', 'immediate'] as const)('keeps what was committed when it is stopped (%s)', async (mode) => {
    const client = await through()
    await client.query("INSERT INTO notes VALUES ('kept')")
    await client.query('BEGIN')
    await client.query("INSERT INTO notes VALUES ('gone')")
    await database.stop(mode)
    await expect(client.query('COMMIT')).rejects.toThrow()
    await expect(dial(proxy.port)).rejects.toThrow()
    await database.start()
    await direct.end().catch(() => undefined)
    direct = await dial(database.port)
    expect(await notes()).toEqual(['kept'])
  })

  it('is durable by its settings', async () => {
    const { rows } = await direct.query(
      "SELECT current_setting('fsync') || current_setting('synchronous_commit') AS on",
    )
    expect(rows).toEqual([{ on: 'onon' }])
  })
})
