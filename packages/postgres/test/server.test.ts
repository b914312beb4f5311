import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { Triarch, workflow } from 'triarch'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import type { StateStore } from '../../triarch/src/store/port.ts'
import {
  claimAll,
  flow,
  newTask,
  owned,
  released,
  snapshot,
  transition,
  workRequest,
} from '../../triarch/test/store/samples.ts'
import { type PostgresOptions, postgres } from '../src/index.ts'
import { refuseVersion } from '../src/migrate.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'
import { describeSchema } from './describe.ts'
import { startServer } from './server.ts'

describe('the PostgreSQL store', () => {
  let schema: string
  const open: StateStore[] = []
  const opened = async (options: PostgresOptions = {}): Promise<StateStore> => {
    const store = postgres({ url: serverUrl(), schema, ...options })(systemEnvironment())
    await store.open()
    open.push(store)
    return store
  }
  beforeEach(() => {
    schema = freshSchema()
  })
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close()
    await dropSchema(schema)
  })

  it('has the schema that is written down', async () => {
    await opened()
    const found = await withClient((client) => describeSchema(client, schema))
    await expect(found).toMatchFileSnapshot('./schema.txt')
  })

  it('is migrated once when many open it at the same time', async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => opened()))
    await stores[0]?.submit([newTask('t')])
    for (const store of stores) expect(await store.task('t')).not.toBeNull()
  })

  it('waits for the disk with what is acknowledged, and not with who has a task that nobody had before', async () => {
    const store = await opened()
    await withClient(async (client) => {
      await client.query(`CREATE TABLE "${schema}".seen (at serial, waits text)`)
      await client.query(
        `CREATE FUNCTION "${schema}".see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO "${schema}".seen (waits) VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`,
      )
      // As it is when the transaction ends.
      await client.query(
        `CREATE CONSTRAINT TRIGGER see AFTER INSERT OR UPDATE ON "${schema}".tasks DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION "${schema}".see()`,
      )
      await store.submit([newTask('t')])
      const [claim] = await claimAll(store)
      if (!claim) throw new Error('there was a task to claim')
      await store.commit([
        transition(claim, { snapshot: snapshot({ progress: '1' }), release: { ...released, ready: true } }),
      ])
      expect(await claimAll(store)).toMatchObject([{ epoch: 2 }])
      const { rows } = await client.query<{ waits: string }>(`SELECT waits FROM "${schema}".seen ORDER BY at`)
      expect(rows.map(({ waits }) => waits)).toEqual(['on', 'off', 'on', 'on'])
    })
  })

  it('renews a lease and makes the calls of the engine while all it may open for reads is taken', async () => {
    const store = await opened({ reads: 2, connections: 2, patience: 20_000 })
    await store.submit([newTask('t')])
    await withClient(async (holder) => {
      await holder.query(`BEGIN; LOCK TABLE "${schema}".history IN ACCESS EXCLUSIVE MODE`)
      const reads = Array.from({ length: 40 }, () => store.records('t', 0, 1))
      expect(await store.heartbeat({ id: 'n', roles: [], lease: 60_000 })).toBe(true)
      expect(
        await store.post([{ task: 't', message: { type: 'signal', name: 's', payload: 1 } as never, control: false }]),
      ).toEqual(['posted'])
      const calls = Array.from({ length: 10 }, () => claimAll(store))
      expect(await store.heartbeat({ id: 'n', roles: [], lease: 60_000 })).toBe(true)
      await holder.query('COMMIT')
      expect(await Promise.all(reads)).toHaveLength(40)
      await Promise.all(calls)
    })
  })

  it('refuses servers it was not made for', () => {
    for (const major of [9, 13, 20]) {
      expect(() => refuseVersion(major)).toThrow(expect.objectContaining({ code: 'STORE_POSTGRES_UNSUPPORTED' }))
    }
    for (const major of [14, 16, 18, 19]) expect(() => refuseVersion(major)).not.toThrow()
  })

  it('refuses a database whose encoding cannot hold every text', async () => {
    const name = `latin_${process.pid}`
    await withClient((client) =>
      client.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`),
    )
    try {
      const url = new URL(serverUrl())
      url.pathname = `/${name}`
      const opening = postgres({ url: url.href })(systemEnvironment()).open()
      await expect(opening).rejects.toMatchObject({
        ...{ code: 'STORE_POSTGRES_UNSUPPORTED', message: expect.stringContaining('LATIN1') },
      })
    } finally {
      await withClient((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
    }
  })

  it('refuses a server that takes no writes', async () => {
    const role = `reader_${process.pid}`
    const url = new URL(serverUrl())
    await withClient((client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`))
    try {
      await withClient((client) => client.query(`ALTER ROLE ${role} SET default_transaction_read_only = on`))
      url.username = role
      url.password = 'x'
      await expect(opened({ url: url.href, patience: 0 })).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
    } finally {
      await withClient((client) => client.query(`DROP ROLE ${role}`))
    }
  })

  it('refuses a standby', { timeout: 600_000 }, async () => {
    const server = await startServer({ standby: true })
    try {
      await expect(opened({ url: server.url, patience: 0 })).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
    } finally {
      await server.stop()
    }
  })

  it('looks for another server once its own takes no more writes, and says so when there is none', async () => {
    const role = `writer_${process.pid}`
    const url = new URL(serverUrl())
    url.username = role
    url.password = 'x'
    await withClient((client) => client.query(`CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD 'x'`))
    const readOnly = (value: 'on' | 'off') =>
      withClient(async (client) => {
        await client.query(`ALTER ROLE ${role} SET default_transaction_read_only = ${value}`)
        await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role])
      })
    try {
      const store = await opened({ url: url.href, patience: 300 })
      await readOnly('on')
      await expect(store.submit([newTask('t')])).rejects.toMatchObject({ code: 'STORE_READ_ONLY' })
      await readOnly('off')
      expect(await store.submit([newTask('t')])).toMatchObject([{ created: true }])
      await store.close()
    } finally {
      await dropSchema(schema)
      await withClient((client) => client.query(`DROP ROLE ${role}`))
    }
  })

  it('needs no more of a role, once its tables are there, than the guide says', async () => {
    const guide = readFileSync(join(import.meta.dirname, '../../../docs/postgres.md'), 'utf8')
    const grants = /```sql\n(GRANT[\s\S]*?)```/.exec(guide)?.[1] ?? ''
    expect(grants.match(/TO app;/g)).toHaveLength(4)
    const role = `app_${process.pid}`
    const url = new URL(serverUrl())
    url.username = role
    url.password = 'x'
    await opened()
    await withClient((client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`))
    try {
      const mine = grants.replaceAll('SCHEMA triarch', `SCHEMA "${schema}"`).replaceAll('TO app', `TO ${role}`)
      await withClient((client) => client.query(mine))
      const hello = workflow('hello', { run: async (n: number, task) => task.transaction('hello', () => n) })
      await using triarch = new Triarch({
        store: postgres({ url: url.href, schema }),
        workflows: [hello],
        retention: 0,
      })
      await triarch.start()
      const task = await triarch.submit(hello, 1, { tags: { a: 'b' } })
      expect(await task.result()).toBe(1)
    } finally {
      await dropSchema(schema)
      await withClient((client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
    }
  })

  it('says of a commit that it is blocked long before its caller gives it up, and has written nothing', async () => {
    const store = await opened({ answerWithin: 30_000 })
    const claim = await owned(store)
    await withClient(async (client) => {
      await client.query('BEGIN')
      await client.query(`SELECT 1 FROM "${schema}".tasks FOR UPDATE`)
      const blocked = { code: 'STORE_BUSY', details: { blocked: true, postgres: '55P03' } }
      await expect(store.commit([transition(claim)])).rejects.toMatchObject(blocked)
      await client.query('COMMIT')
    })
    expect(await store.records('t', 0, 10)).toHaveLength(1)
    expect(await store.commit([transition(claim)])).toMatchObject([{ ok: true }])
  })

  it('gives up a lock before its caller gives it up, and tries again on the same connection', async () => {
    const store = await opened({ answerWithin: 1_000 })
    await owned(store)
    await store.submit([newTask('u')])
    let claims: Promise<unknown[]> = Promise.resolve([])
    await withClient(async (client) => {
      await client.query('BEGIN')
      await client.query(`SELECT 1 FROM "${schema}".tasks FOR UPDATE`)
      // What the node does not know it holds: it asks once, and so waits for it.
      claims = store.claim({ node: 'a', runnable: [flow], limit: 10, held: [] })
      // A connection that waits in one call and later in another has given up in between, however short that was.
      const calls = new Map<number, string>()
      const again = async () => {
        const waiting = `SELECT pid, query_start::text AS began FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE '%"${schema}".take_tasks%'`
        const { rows } = await withClient((other) => other.query(waiting)) // a transaction sees one state of it for ever
        const seen = rows.some(({ pid, began }) => (calls.get(pid) ?? began) !== began)
        for (const { pid, began } of rows) calls.set(pid, began)
        return seen
      }
      while (!(await again()));
      await client.query('COMMIT')
    })
    expect(await claims).toHaveLength(2)
  })

  it.each([
    [{ schema: 'No good' }, 'INVALID_OPTION'],
    [{ connections: 0 }, 'INVALID_OPTION'],
    [{ colour: 'red' }, 'UNKNOWN_OPTION'],
  ])('refuses %j', (options, code) => {
    expect(() => postgres({ url: serverUrl(), ...options })).toThrow(expect.objectContaining({ code }))
  })

  it.each([undefined, null, '', 5])('refuses %j in place of an address', (given) => {
    expect(() => postgres(given as never)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  it('says why it cannot be opened', async () => {
    const wrong = new URL(serverUrl())
    wrong.username = 'nobody_of_this_name'
    await expect(opened({ url: wrong.href })).rejects.toMatchObject({ code: 'STORE_FAILED' })
    const nowhere = opened({ url: 'postgres://127.0.0.1:1/none', patience: 10 })
    await expect(nowhere).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it('lets two systems share a database by their schemas', async () => {
    const store = await opened()
    await store.submit([newTask('t')])
    const other = `${schema}_other`
    const neighbour = await opened({ schema: other })
    expect(await neighbour.task('t')).toBeNull()
    await dropSchema(other)
  })

  it('takes no answer of a claim for that of the next call, when others held all it could have claimed', async () => {
    const store = await opened({ connections: 1 })
    const claim = await owned(store)
    await store.submit([newTask('u')])
    await withClient(async (client) => {
      await client.query('BEGIN')
      await client.query(`SELECT 1 FROM "${schema}".tasks WHERE id = 'u' FOR UPDATE`)
      expect(await claimAll(store)).toEqual([])
      await client.query('COMMIT')
    })
    expect(await store.commit([transition(claim)])).toEqual([{ ok: true, key: claim.key }])
    expect((await claimAll(store)).map(({ id }) => id)).toEqual(['u'])
  })

  it('takes no answer of a request for work for that of the next call, when others held all there was', async () => {
    const store = await opened({ connections: 1 })
    const claim = await owned(store)
    await store.commit([transition(claim, { work: [workRequest('t', 1)] })])
    const agents = [{ agent: 'pay', actions: ['pay.charge'], limit: 5 }]
    await withClient(async (client) => {
      await client.query('BEGIN')
      await client.query(`SELECT 1 FROM "${schema}".work FOR UPDATE`)
      expect(await store.takeWork({ node: 'a', agents })).toEqual([])
      await client.query('COMMIT')
    })
    expect(await store.commit([transition(claim, { seq: 3 })])).toEqual([{ ok: true, key: claim.key }])
    expect(await store.takeWork({ node: 'a', agents })).toHaveLength(1)
  })

  it('goes by the clock of the server', async () => {
    const store = await opened()
    const before = Number(
      await withClient(async (client) => {
        const { rows } = await client.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')
        return rows[0].now
      }),
    )
    const now = await store.now()
    expect(now).toBeGreaterThanOrEqual(Math.floor(before))
    await store.submit([newTask('due', { startAt: now - 1 }), newTask('not', { startAt: now + 3_600_000 })])
    expect((await claimAll(store)).map(({ id }) => id)).toEqual(['due'])
  })

  it('takes only a client in a transaction on its own tables', async () => {
    const store = await opened()
    await withClient(async (client) => {
      await expect(store.submitIn(client, [newTask('t')])).rejects.toMatchObject({ code: 'STORE_TRANSACTION_INVALID' })
    })
    const elsewhere = postgres({ url: serverUrl(), schema: `${schema}_none` })(systemEnvironment())
    await withClient(async (client) => {
      await client.query('BEGIN')
      await expect(elsewhere.submitIn(client, [newTask('t')])).rejects.toMatchObject({
        code: 'STORE_TRANSACTION_INVALID',
      })
      await client.query('ROLLBACK')
    })
    expect(await store.task('t')).toBeNull()
  })

  it('says that it is busy when a caller’s snapshot does not show the task that is in its way', async () => {
    const store = await opened()
    await withClient(async (client) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
      await client.query('SELECT 1')
      await store.submit([newTask('t')])
      await expect(store.submitIn(client, [newTask('t')])).rejects.toMatchObject({ code: 'STORE_BUSY' })
      await client.query('ROLLBACK')
    })
  })

  it('plans its statements anew now and then, for tables grow that were empty', async () => {
    const store = await opened()
    const sent = vi.spyOn(pg.Client.prototype, 'query')
    const replanned = () => sent.mock.calls.filter(([query]) => (query as unknown) === 'DISCARD PLANS').length
    for (let n = 0; n < 15; n++) await store.submit([newTask(`t${n}`)])
    expect(replanned()).toBe(0)
    for (let n = 15; n < 70; n++) await store.submit([newTask(`t${n}`)])
    expect(replanned()).toBe(2)
    sent.mockRestore()
    expect(await claimAll(store)).toHaveLength(70)
  })

  it('writes nothing of a batch that breaks', async () => {
    const store = await opened()
    const claim = await owned(store)
    const broken = transition(claim, { seq: 3, snapshot: snapshot({ failures: 'many' as never }) })
    await expect(store.commit([transition(claim), broken])).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await store.records('t', 0, 10)).toHaveLength(1)
  })

  it('shows its tasks in the words of the pattern', async () => {
    const store = await opened()
    const t = await owned(store)
    await store.commit([transition(t, { snapshot: snapshot({ failures: 2, deadline: 5 }) })])
    const { rows } = await withClient((client) => client.query(`SELECT * FROM "${schema}".sas_tasks`))
    const shown = { task_id: 't', locked_by: 'a', complete_by: '5', process_state: 'Processing', failure_count: 2 }
    expect(rows).toEqual([shown])
  })
})
