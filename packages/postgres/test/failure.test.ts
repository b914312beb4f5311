import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import type { StateStore } from '../../triarch/src/store/port.ts'
import { claimAll, newTask, owned, replyTo, transition, workRequest } from '../../triarch/test/store/samples.ts'
import { ruleOf } from '../src/failure.ts'
import { type PostgresOptions, postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl, withClient } from './database.ts'
import { type Wire, wire } from './wire.ts'

describe('an error of the server', () => {
  it.each([
    ['40001', 'again', 'STORE_BUSY'],
    ['40P01', 'again', 'STORE_BUSY'],
    ['55P03', 'again', 'STORE_BUSY'],
    ['57014', 'again', 'STORE_BUSY'],
    ['08000', 'reconnect', 'STORE_UNAVAILABLE'],
    ['08003', 'reconnect', 'STORE_UNAVAILABLE'],
    ['08006', 'reconnect', 'STORE_UNAVAILABLE'],
    ['08007', 'reconnect', 'STORE_UNAVAILABLE'],
    ['57P01', 'reconnect', 'STORE_UNAVAILABLE'],
    ['57P02', 'reconnect', 'STORE_UNAVAILABLE'],
    ['57P03', 'reconnect', 'STORE_UNAVAILABLE'],
    ['57P05', 'reconnect', 'STORE_UNAVAILABLE'],
    ['25P03', 'reconnect', 'STORE_UNAVAILABLE'],
    ['53300', 'reconnect', 'STORE_UNAVAILABLE'],
    ['25006', 'reconnect', 'STORE_READ_ONLY'],
    ['26000', 'reconnect', 'STORE_FAILED'],
    ['53100', 'fail', 'STORE_FULL'],
    ['53200', 'fail', 'STORE_FULL'],
    ['58030', 'fail', 'STORE_FULL'],
    ['22P02', 'fail', 'STORE_FAILED'],
    ['23505', 'fail', 'STORE_FAILED'],
    ['42P01', 'fail', 'STORE_FAILED'],
    ['28P01', 'fail', 'STORE_FAILED'],
    ['ECONNRESET', 'reconnect', 'STORE_UNAVAILABLE'],
    ['ECONNREFUSED', 'reconnect', 'STORE_UNAVAILABLE'],
  ])('%s means: %s, else %s', (code, verdict, ours) => {
    expect(ruleOf(Object.assign(new Error('it'), { code }))).toEqual({ verdict, code: ours })
  })

  it('which says that columns have changed means: reconnect, where it is about what was prepared', () => {
    const error = (routine: string) => Object.assign(new Error('it'), { code: '0A000', routine })
    expect(ruleOf(error('RevalidateCachedQuery'))).toEqual({ verdict: 'reconnect', code: 'STORE_FAILED' })
    expect(ruleOf(error('transformStmt'))).toEqual({ verdict: 'fail', code: 'STORE_FAILED' })
  })

  it('which has no numbers of transactions left means: full', () => {
    const error = (routine: string) => Object.assign(new Error('it'), { code: '54000', routine })
    expect(ruleOf(error('GetNewTransactionId'))).toEqual({ verdict: 'fail', code: 'STORE_FULL' })
    expect(ruleOf(error('index_form_tuple'))).toEqual({ verdict: 'fail', code: 'STORE_FAILED' })
  })

  it('of which pg only says that the connection ended means: reconnect', () => {
    expect(ruleOf(new Error('Connection terminated unexpectedly'))).toMatchObject({ verdict: 'reconnect' })
  })
})

describe('a store that the server lets in no more', () => {
  it('goes on once it is let in, and says until then that the server is out of reach', async () => {
    const schema = freshSchema()
    const role = `role_${schema}`
    const url = new URL(serverUrl())
    const owner = url.username
    url.username = role
    const admin = (...statements: string[]) =>
      withClient(async (client) => {
        for (const statement of statements) await client.query(statement)
      })
    await admin(`CREATE ROLE ${role} LOGIN`, `CREATE SCHEMA ${schema} AUTHORIZATION ${role}`)
    const made = (patience: number) =>
      postgres({ url: url.href, schema, connections: 1, notify: false, patience })(systemEnvironment())
    const [store, hasty] = [made(60_000), made(0)]
    try {
      for (const one of [store, hasty]) {
        await one.open()
        await one.submit([newTask('before')])
      }
      await admin(
        `ALTER ROLE ${role} NOLOGIN`,
        `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE usename = '${role}'`,
      )
      await expect(made(0).open()).rejects.toMatchObject({ code: 'STORE_FAILED', details: { postgres: '28000' } })
      // The first may only hear of the connection's end.
      await hasty.submit([newTask('lost')]).catch(() => undefined)
      await expect(hasty.submit([newTask('none')])).rejects.toMatchObject({
        ...{ code: 'STORE_UNAVAILABLE', details: { postgres: '28000' } },
      })
      const submitted = store.submit([newTask('after')])
      const transacted = store.transact(
        { key: 1, node: 'n', epoch: 1, step: 1, firstStep: 1, name: 'x' },
        { within: 60_000, isolation: 'read committed', signal: new AbortController().signal },
        () => '1',
      )
      await admin(`ALTER ROLE ${role} LOGIN`)
      expect(await submitted).toMatchObject([{ created: true }])
      expect(await transacted).toEqual({ ok: false, reason: 'fenced' })
    } finally {
      await store.close()
      await hasty.close()
      await dropSchema(schema)
      await admin(`REASSIGN OWNED BY ${role} TO ${owner}`, `DROP ROLE ${role}`)
    }
  })
})

describe('a store whose connection breaks', () => {
  let schema: string
  let line: Wire
  let store: StateStore
  const opened = async (options: PostgresOptions = {}): Promise<StateStore> => {
    const made = postgres({ url: line.url, schema, connections: 1, notify: false, ...options })(systemEnvironment())
    await made.open()
    return made
  }
  beforeEach(async () => {
    schema = freshSchema()
    line = await wire(serverUrl())
    store = await opened()
  })
  afterEach(async () => {
    await store.close()
    await line[Symbol.asyncDispose]()
    await dropSchema(schema)
  })

  /** The call, of which the first answer gets lost after the server acted. */
  async function losing<T>(call: () => Promise<T>): Promise<T> {
    const lost = line.loseAnswer()
    const answer = call()
    await lost
    return answer
  }

  it('is closed soon when the server hears nothing any more', async () => {
    line.hush()
    await store.close()
    await expect(store.submit([newTask('t')])).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  it('learns that its commit was recorded, and records it once', async () => {
    const claim = await owned(store)
    const children = [newTask('child', { parent: 't' })]
    expect(await losing(() => store.commit([transition(claim, { children })]))).toEqual([{ ok: true, key: claim.key }])
    expect(await store.records('t', 0, 10)).toHaveLength(2)
    expect(await store.commit([transition(claim)])).toEqual([{ ok: false, reason: 'fenced' }])
    expect(await store.commit([transition(claim, { seq: 3 })])).toMatchObject([{ ok: true }])
  })

  it('asks over another connection, once the columns of an answer have changed', async () => {
    await store.close()
    store = await opened({ notify: true })
    await store.submit([newTask('t')])
    const before = await store.records('t', 0, 10)
    const table = `"${schema}".history`
    await withClient((client) => client.query(`ALTER TABLE ${table} ALTER COLUMN events TYPE varchar`))
    expect(await store.records('t', 0, 10)).toEqual(before)
  })

  it('gets the tasks it claimed', async () => {
    await store.submit([newTask('t'), newTask('u')])
    const claims = await losing(() => claimAll(store))
    expect(claims).toMatchObject([
      { id: 't', epoch: 1, orphaned: false, records: [{ seq: 1 }] },
      { id: 'u', epoch: 1 },
    ])
    expect(await claimAll(store, 'b')).toEqual([])
  })

  it('submits, posts, takes work and replies once', async () => {
    expect(await losing(() => store.submit([newTask('t')]))).toMatchObject([{ created: true }])
    const [claim] = await claimAll(store)
    if (!claim) return expect.fail('no claim')
    const post = { task: 't', message: { type: 'event', name: 'go', payload: 1 } as const, control: false }
    expect(await losing(() => store.post([post]))).toEqual(['posted'])
    expect(await store.inbox('a', 10)).toHaveLength(1)
    await store.commit([transition(claim, { work: [workRequest('t', 1)] })])
    const agents = [{ agent: 'pay', actions: ['pay.charge'], limit: 5 }]
    const [item] = await losing(() => store.takeWork({ node: 'a', agents }))
    expect(item).toMatchObject({ request: { step: 1 } })
    const reply = { work: item?.id ?? 0, node: 'a', message: replyTo(1) }
    expect(await losing(() => store.reply([reply]))).toEqual([true])
    expect(await store.reply([reply])).toEqual([false])
    expect(await store.inbox('a', 10)).toHaveLength(2)
  })

  it('writes a schedule that starts nothing once, and knows that it did', async () => {
    const write = { name: 's', definition: 'd', state: 'of before', nextAt: null, fence: null, tasks: [] }
    expect(await losing(() => store.writeSchedule({ ...write, expected: null }))).toEqual([])
    expect(await losing(() => store.writeSchedule({ ...write, state: 'new', expected: 1 }))).toEqual([])
    expect(await store.schedules({ name: 's', limit: 10 })).toMatchObject([{ revision: 2, state: 'new' }])
  })

  it('says of a lease that is not renewed for a moment that the store is away, and renews it then', async () => {
    const node = { id: 'a', roles: [], lease: 3_000 } as const
    await store.heartbeat(node)
    const told: unknown[] = []
    const renewed = Array.from({ length: 100 }, () => Promise.withResolvers<void>())
    const failed = Promise.withResolvers<unknown>()
    const keeper = store.keepAlive?.({
      node: { ...node, roles: [] },
      stall: 60_000,
      quiet: true,
      report(it) {
        if (it.type === 'renewed') renewed[told.push(it) - 1]?.resolve()
        if (it.type === 'failed') failed.resolve(it.error)
      },
    })
    await renewed[0]?.promise
    line.refuse(true)
    line.cut()
    expect(await failed.promise).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    const before = told.length
    line.refuse(false)
    await renewed[before]?.promise
    await keeper?.close()
  })

  it('refuses a call that was on its way too long', async () => {
    await store.submit([newTask('t')])
    await withClient(async (client) => {
      const { rows } = await client.query(`SELECT slot FROM "${schema}".calls`)
      const late = () => client.query(`SELECT "${schema}".answered($1, 1) AS answer`, [rows[0].slot])
      for (let n = 1; n < 64; n++) await store.submit([newTask(`u${n}`)])
      expect((await late()).rows).toEqual([{ answer: expect.any(String) }]) // nothing is done, it is answered once more
      for (let n = 64; n < 128; n++) await store.submit([newTask(`u${n}`)])
      await expect(late()).rejects.toMatchObject({ code: '25000' })
    })
  })

  it('goes on when its connections are ended, and when the server is away for a while', async () => {
    const claim = await owned(store)
    // Only those of this test: others share the server.
    const own = `application_name = 'triarch' AND position($1 in query) > 0`
    await withClient((client) =>
      client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${own}`, [schema]),
    )
    expect(await store.commit([transition(claim)])).toMatchObject([{ ok: true }])
    line.refuse(true)
    line.cut()
    const committed = store.commit([transition(claim, { seq: 3 })])
    line.refuse(false)
    expect(await committed).toMatchObject([{ ok: true }])
  })

  it('says that the server cannot be reached once its patience is over', async () => {
    const hasty = await opened({ patience: 20 })
    line.refuse(true)
    line.cut()
    await expect(hasty.submit([newTask('t')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await hasty.close()
    line.refuse(false)
    expect(await store.submit([newTask('t')])).toMatchObject([{ created: true }])
  })

  it('hears of what others write again after its notifications broke', async () => {
    const listener = await opened({ notify: true })
    const speaker = await opened({ notify: true })
    const runs = { workflows: ['flow@1'], actions: [] }
    await listener.heartbeat({ id: 'listener', roles: ['scheduler'], lease: 86_400_000, runs })
    const heard = Promise.withResolvers<void>()
    const subscribed = Promise.withResolvers<void>()
    let seen = 0
    listener.watch?.(() => {
      seen++
      if (seen === 1)
        subscribed.resolve() // subscribed anew: it looks for whatever it missed
      else heard.resolve()
    }, true)
    line.cut()
    await subscribed.promise
    while (seen < 2) {
      await speaker.submit([newTask(`t${seen}-${Math.random()}`)])
      await Promise.race([heard.promise, new Promise((resolve) => setTimeout(resolve, 20))])
    }
    await Promise.all([listener.close(), speaker.close()])
  })
})
