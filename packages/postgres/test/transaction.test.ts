import type pg from 'pg'
import { type Isolation, isTriarchError, type TaskContext, Triarch, workflow } from 'triarch'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import type { Claim, Effect, StateStore } from '../../triarch/src/store/port.ts'
import { owned, released, transition } from '../../triarch/test/store/samples.ts'
import { type PostgresOptions, postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'
import { type Wire, wire } from './wire.ts'

describe('a transaction of the user on PostgreSQL', () => {
  let line: Wire
  let schema: string
  let store: StateStore
  let claim: Claim
  const open: StateStore[] = []
  const opened = async (options: PostgresOptions = {}) => {
    const store = postgres({ url: line.url, schema, ...options })(systemEnvironment())
    await store.open()
    open.push(store)
    return store
  }
  const effect = (): Effect => {
    return { key: claim.key, node: 'a', epoch: claim.epoch, step: 1, firstStep: 1, name: 't:1' }
  }
  const transact = (
    body: (tx: pg.ClientBase) => Promise<unknown>,
    { within = 10_000, isolation = 'read committed' as Isolation, of = effect() } = {},
  ) => {
    const { signal } = new AbortController()
    return store.transact(of, { within, signal, isolation }, async (tx) =>
      JSON.stringify((await body(tx as pg.ClientBase)) ?? null),
    )
  }
  const rows = () =>
    withClient(async (client) =>
      (await client.query(`SELECT n FROM "${schema}".user_rows ORDER BY n`)).rows.map(({ n }) => n),
    )
  const insert = (tx: pg.ClientBase, n: number) => tx.query(`INSERT INTO "${schema}".user_rows VALUES ($1)`, [n])

  beforeEach(async () => {
    schema = freshSchema()
    line = await wire(serverUrl())
    store = await opened()
    claim = await owned(store)
    await withClient((client) => client.query(`CREATE TABLE "${schema}".user_rows (n integer)`))
  })
  afterEach(async () => {
    for (const store of open.splice(0)) await store.close()
    await line[Symbol.asyncDispose]()
    await dropSchema(schema)
  })

  it('took effect once, though the answer to its COMMIT was lost', async () => {
    let runs = 0
    const lost = line.loseAnswerTo('COMMIT')
    const outcome = transact(async (tx) => {
      await insert(tx, ++runs)
      return runs
    })
    await lost
    expect(await outcome).toEqual({ ok: true, answer: '1' })
    expect(await rows()).toEqual([1])
  })

  it('says that nobody knows when the server is gone with that answer; who asks later is told', async () => {
    const lost = line.loseAnswerTo('COMMIT')
    const outcome = transact(
      async (tx) => {
        await insert(tx, 1)
        line.refuse(true)
        return 'done'
      },
      { within: 500 },
    )
    const refused = expect(outcome).rejects.toMatchObject({ name: 'UnknownOutcomeError' })
    await lost
    await refused
    line.refuse(false)
    expect(await store.effect(effect(), 10_000)).toBe('"done"')
    expect(await rows()).toEqual([1])
  })

  it('runs again on a new connection when its own is lost', async () => {
    let runs = 0
    const outcome = transact(async (tx) => {
      await insert(tx, ++runs)
      if (runs === 1) line.cut()
      await tx.query('SELECT 1')
      return runs
    })
    expect(await outcome).toEqual({ ok: true, answer: '2' })
    expect(await rows()).toEqual([2])
  })

  it('runs again when it cannot be serialised with another', async () => {
    let runs = 0
    const outcome = transact(
      async (tx) => {
        const { rows } = await tx.query(`SELECT count(*)::integer AS n FROM "${schema}".user_rows`)
        if (++runs === 1) {
          await withClient(async (client) => {
            await client.query('BEGIN ISOLATION LEVEL SERIALIZABLE')
            await client.query(`SELECT count(*) FROM "${schema}".user_rows`)
            await client.query(`INSERT INTO "${schema}".user_rows VALUES (10)`)
            await client.query('COMMIT')
          })
        }
        await insert(tx, rows[0].n)
        return rows[0].n
      },
      { isolation: 'serializable' },
    )
    expect(await outcome).toEqual({ ok: true, answer: '1' })
    expect([runs, await rows()]).toEqual([2, [1, 10]])
  })

  it('leaves nothing when the task went to another owner meanwhile', async () => {
    const outcome = transact(async (tx) => {
      await insert(tx, 1)
      await store.commit([transition(claim, { release: released })])
      return 1
    })
    expect(await outcome).toEqual({ ok: false, reason: 'fenced' })
    expect(await rows()).toEqual([])
    expect(await store.effect(effect(), 1_000)).toBeNull()
  })

  it('cannot be taken over between its last check and its commit', async () => {
    const order: string[] = []
    // A commit that meets a row which another connection holds is refused after a moment.
    const releasing = async (): Promise<unknown> =>
      store
        .commit([transition(claim, { release: released })])
        .catch((error) => (isTriarchError(error, 'STORE_BUSY') ? releasing() : Promise.reject(error)))
    await withClient(async (client) => {
      await client.query('BEGIN')
      const { rows } = await client.query(`SELECT transaction FROM "${schema}".begin_effect($1, 'a', $2, 1, 't:1')`, [
        claim.key,
        claim.epoch,
      ])
      const keep = [claim.key, 'a', claim.epoch, 1, 1, 't:1', '1', rows[0].transaction]
      await client.query(`SELECT "${schema}".keep_effect($1, $2, $3, $4, $5, $6, $7, $8)`, keep)
      const release = releasing().then(() => order.push('released'))
      await expect(store.effect(effect(), 1)).rejects.toMatchObject({ code: 'STORE_BUSY' })
      order.push('committed')
      await client.query('COMMIT')
      await release
    })
    expect(order).toEqual(['committed', 'released'])
    expect(await store.effect(effect(), 1_000)).toBe('1')
  })

  it('cannot commit behind the back of its function, nor after it', async () => {
    const ended = transact(async (tx) => {
      await insert(tx, 1)
      await tx.query('COMMIT; BEGIN')
    })
    await expect(ended).rejects.toMatchObject({ code: 'TRANSACTION_ENDED' })
    expect(await store.effect(effect(), 1_000)).toBeNull()
    const swallowed = transact((tx) => tx.query('SELECT nonsense').catch(() => 'fine'))
    await expect(swallowed).rejects.toMatchObject({ code: 'STORE_FAILED', details: { postgres: '25P02' } })
  })

  it('sees what pg gives everybody, not the settings of the engine', async () => {
    const outcome = await transact(async (tx) => {
      const { rows } = await tx.query(
        `SELECT now() AS at, 1::bigint AS big, current_setting('enable_seqscan') AS seqscan`,
      )
      return { at: rows[0].at instanceof Date, big: rows[0].big, seqscan: rows[0].seqscan }
    })
    expect(outcome).toEqual({ ok: true, answer: '{"at":true,"big":"1","seqscan":"on"}' })
  })

  it('that a cancelled task has under way is undone, and the task stops at once', async () => {
    const inside = Promise.withResolvers<void>()
    const stuck = workflow('stuck', {
      run: (_: null, task: TaskContext) =>
        task.transaction('stuck', async (tx: pg.ClientBase) => {
          await insert(tx, 1)
          inside.resolve()
          await tx.query('SELECT pg_sleep(60)')
        }),
    })
    await using triarch = new Triarch({ store: postgres({ url: line.url, schema }), workflows: [stuck] })
    await triarch.start()
    const task = await triarch.submit(stuck, null)
    await inside.promise
    await task.cancel()
    await expect(task.result()).rejects.toMatchObject({ code: 'TASK_CANCELLED' })
    expect(await rows()).toEqual([])
    // Its locks are free, too, long before its statement would have ended.
    await withClient((client) => client.query(`SET lock_timeout = '5s'; TRUNCATE "${schema}".user_rows`))
  })
})
