import pg from 'pg'
import { agent, type TaskContext, Triarch, type TriarchOptions, workflow } from 'triarch'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import {
  claimAll,
  newTask,
  owned,
  released,
  stopped,
  transition,
  workRequest,
} from '../../triarch/test/store/samples.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

const echo = workflow('echo', { run: async (n: number) => n })
const alone = workflow('alone', { exclusive: { key: 'k' }, run: async (n: number) => n })
/** Asks for the lock, makes a child of that id, or just goes on, when it is told to. */
const told = workflow('told', {
  async run(what: 'lock' | 'child' | 'on', task: TaskContext) {
    await task.waitForSignal('go')
    if (what === 'lock') await task.lock('k')
    if (what === 'child') await task.start(echo, 1, { id: 'taken' })
    return what
  },
})

const schema = freshSchema()
let pool: pg.Pool
let triarch: Triarch
let client: pg.PoolClient
beforeAll(() => {
  pool = new pg.Pool({ connectionString: serverUrl(), max: 3 })
})
afterAll(async () => {
  await pool.end()
  await dropSchema(schema)
})
beforeEach(async () => {
  triarch = new Triarch({ store: postgres({ url: serverUrl(), schema }), workflows: [echo, alone, told] })
  await triarch.start()
  client = await pool.connect()
})
afterEach(async () => {
  await client.query('ROLLBACK')
  client.release()
  await triarch.stop({ grace: 0 })
  await dropSchema(schema)
})

describe('while a transaction of the user is open', () => {
  it('that submitted a task, only those wait that need its id, its lock, or its antecedent', async () => {
    const [lock, child, on] = await Promise.all(
      (['lock', 'child', 'on'] as const).map((what) => triarch.submit(told, what, { id: what })),
    )
    await client.query('BEGIN')
    await triarch.submit(alone, 1, { transaction: client })
    await triarch.submit(echo, 1, { id: 'taken', transaction: client })
    await triarch.submit(echo, 2, { after: 'on', transaction: client })
    const blocked = [
      triarch.submit(echo, 1, { id: 'taken', ifExists: 'return' }),
      triarch.submit(alone, 3),
      ...Array.from({ length: 10 }, (_, n) => triarch.submit(alone, n)),
    ]
    let unblocked = 0
    for (const it of blocked) void it.then(() => unblocked++)
    await Promise.all([lock, child, on].map((task) => task?.signal('go')))
    // Others of this node come and go meanwhile.
    for (let round = 0; round < 20; round++) {
      const tasks = await Promise.all(Array.from({ length: 5 }, () => triarch.submit(echo, round)))
      expect(await Promise.all(tasks.map((task) => task.result()))).toEqual(Array(5).fill(round))
    }
    const open = await Promise.all([lock, child, on].map(async (task) => (await task?.status())?.status))
    expect([open, unblocked]).toEqual([Array(3).fill('running'), 0])
    await client.query('COMMIT')
    expect(await lock?.result()).toBe('lock')
    expect(await on?.result()).toBe('on')
    expect(await child?.result()).toBe('child')
    for (const task of await Promise.all(blocked)) await task.result()
  })

  it('that submitted a task, a submission of the same id keeps none waiting that was made at the same time', async () => {
    await using outside = new Triarch({ store: postgres({ url: serverUrl(), schema }), workflows: [echo], roles: [] })
    await client.query('BEGIN')
    await triarch.submit(echo, 1, { id: 'taken', transaction: client })
    const ids = Array.from({ length: 120 }, (_, n) => `free ${n}`)
    const taken = outside.submit(echo, 1, { id: 'taken' })
    const free = await Promise.all(ids.map((id) => outside.submit(echo, 1, { id })))
    expect(free.every(({ isNew }) => isNew)).toBe(true)
    await client.query('COMMIT')
    expect((await taken).isNew).toBe(false)
  })

  it('a reply to what it holds keeps no other reply waiting', async () => {
    const desk = agent('desk')
    const [begun, gates] = [new Map<string, () => void>(), new Map<string, PromiseWithResolvers<string>>()]
    const both = ['held', 'free'].map((id) => {
      gates.set(id, Promise.withResolvers())
      return new Promise<void>((resolve) => begun.set(id, resolve))
    })
    const stamp = desk.action('stamp', {
      run(id: string) {
        begun.get(id)?.()
        return gates.get(id)?.promise ?? id
      },
    })
    const flow = workflow('flow', { run: (id: string, task) => task.run(stamp, id) })
    const node = async (can: Pick<TriarchOptions, 'workflows' | 'agents'>) => {
      const made = new Triarch({ store: postgres({ url: serverUrl(), schema }), ...can })
      await made.start()
      return made
    }
    const scheduler = await node({ workflows: [flow] })
    const clerk = await node({ agents: [desk] })
    const [held, free] = await Promise.all(['held', 'free'].map((id) => triarch.submit(flow, id, { id })))
    await Promise.all(both)
    await scheduler.stop({ grace: 0 }) // nobody owns them now
    await client.query('BEGIN')
    await triarch.submit(echo, 1, { after: 'held', transaction: client })
    for (const [id, { resolve }] of gates) resolve(id)
    const next = await node({ workflows: [flow] })
    expect(await free?.result()).toBe('free')
    await client.query('COMMIT')
    expect(await held?.result()).toBe('held')
    await Promise.all([next, clerk].map((it) => it.stop({ grace: 0 })))
  })

  it('heartbeats and retention pass by what it holds', async () => {
    const own = freshSchema()
    const store = postgres({ url: serverUrl(), schema: own })(systemEnvironment())
    await store.open()
    try {
      for (const id of ['held', 'free']) {
        await store.commit([transition(await owned(store, id), { work: [workRequest(id, 1)], release: released })])
      }
      for (const id of ['old', 'parent', 'held child']) {
        const claim = await owned(store, id, 'a', { parent: id === 'held child' ? 'parent' : null })
        await store.commit([transition(claim, { at: 1, snapshot: stopped, release: released })])
      }
      const works = await store.takeWork({ node: 'n', agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 9 }] })
      const message = { type: 'heartbeat', step: 1, attempt: 1, progress: 0.5 } as const
      const beats = works.map(({ id, request }) => ({ work: id, node: 'n', message, task: request.task }))
      const outcomes = async () => {
        const answers = await store.heartbeatWork(beats)
        return Object.fromEntries(beats.map(({ task }, index) => [task, answers[index]]))
      }
      await client.query('BEGIN')
      await client.query(`SELECT 1 FROM "${own}".tasks WHERE id LIKE '%held%' FOR NO KEY UPDATE`)
      expect(await outcomes()).toEqual({ held: 'held', free: 'ok' })
      const token = (await store.lead({ name: 'l', node: 'n', ttl: 600_000 })) ?? 0
      const rules = [{ workflow: null, result: 'success', age: 0 } as const]
      const prune = () => store.prune({ name: 'l', token, rules, limit: 9, records: 99 })
      expect(await prune()).toMatchObject({ dropped: 1 })
      expect([await store.task('old'), await store.task('parent')]).toMatchObject([null, { id: 'parent' }])
      await client.query('COMMIT')
      expect(await prune()).toMatchObject({ dropped: 1 })
      expect(await store.task('parent')).toBeNull()
      expect(await outcomes()).toEqual({ held: 'ok', free: 'ok' })
      expect((await claimAll(store)).find(({ id }) => id === 'held')?.letters).toHaveLength(1)
    } finally {
      await client.query('ROLLBACK')
      await store.close()
      await dropSchema(own)
    }
  })

  it('a sweep does all else, and comes back to what it holds', async () => {
    const own = freshSchema()
    const store = postgres({ url: serverUrl(), schema: own })(systemEnvironment())
    await store.open()
    try {
      // Of each two one is held: attempts that nobody took in time, tasks of a node that is no more, locks whose holder has gone.
      for (const id of ['held late', 'late']) {
        const work = [workRequest(id, 1, { expiresAt: 1 })]
        await store.commit([transition(await owned(store, id), { work, release: released })])
      }
      for (const id of ['held lost', 'lost']) await owned(store, id)
      for (const name of ['k', 'held']) {
        const lock = { step: 1, name, ifHeld: 'queue', parents: [] } as const
        await store.submit([newTask(`${name} first`, { gates: { after: [], locks: [lock] } })])
        await store.submit([newTask(`${name} next`, { gates: { after: [], locks: [lock] } })])
      }
      await client.query(`DELETE FROM "${own}".locks WHERE held`)
      await client.query('BEGIN')
      await client.query(`SELECT 1 FROM "${own}".tasks WHERE id LIKE 'held %' FOR NO KEY UPDATE`)
      const token = (await store.lead({ name: 'l', node: 'n', ttl: 600_000 })) ?? 0
      const sweep = () => store.sweep({ name: 'l', token, limit: 100, silent: [] })
      const locks = async () => [...(await store.locks({ name: 'k' })), ...(await store.locks({ name: 'held' }))]
      expect(await sweep()).toMatchObject({ expiredSteps: 1, releasedTasks: 1 })
      expect(await locks()).toMatchObject([{ task: 'k next', held: true }, { held: false }])
      await client.query('COMMIT')
      expect(await sweep()).toMatchObject({ expiredSteps: 1, releasedTasks: 1 })
      expect(await locks()).toMatchObject([{ held: true }, { task: 'held next', held: true }])
    } finally {
      await client.query('ROLLBACK')
      await store.close()
      await dropSchema(own)
    }
  })

  it('a sweep that gives running attempts more time locks them in the order of their ids, as heartbeats do', async () => {
    const own = freshSchema()
    const store = postgres({ url: serverUrl(), schema: own })(systemEnvironment())
    await store.open()
    try {
      for (const node of ['z', 'a']) {
        const work = [workRequest(node, 1)]
        await store.commit([transition(await owned(store, node), { work, release: released })])
        await store.takeWork({ node, agents: [{ agent: 'pay', actions: ['pay.charge'], limit: 1 }] })
      }
      // A heartbeat puts the row behind the others in the table.
      await client.query(`UPDATE "${own}".work SET heartbeat_by = 9e15 WHERE locked_by = 'z'`)
      const token = (await store.lead({ name: 'l', node: 'n', ttl: 600_000 })) ?? 0
      const lock = (node: string) =>
        client.query(`SELECT 1 FROM "${own}".work WHERE locked_by = $1 FOR UPDATE NOWAIT`, [node])
      await client.query('BEGIN')
      await lock('z')
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      const swept = store.sweep({ name: 'l', token, limit: 100, silent: [], shift: 1 })
      const waits = 'SELECT 1 FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))'
      await vi.waitFor(async () => expect((await pool.query(waits, [rows[0]?.pid])).rowCount).toBe(1), 30_000)
      expect((await lock('a')).rowCount).toBe(1)
      await client.query('COMMIT')
      expect(await swept).not.toBeNull()
    } finally {
      await client.query('ROLLBACK')
      await store.close()
      await dropSchema(own)
    }
  })
})

describe.each(['REPEATABLE READ', 'SERIALIZABLE'])('in a transaction that is %s', (level) => {
  const begin = async () => {
    await client.query(`BEGIN ISOLATION LEVEL ${level}`)
    await client.query('SELECT 1 FROM pg_class LIMIT 1')
  }
  const conflict = { code: 'STORE_BUSY', details: { postgres: '40001' } }

  it('a submission never waits for a lock that nobody has', async () => {
    const holder = await triarch.submit(told, 'lock', { exclusive: { key: 'k' } })
    await begin()
    await client.query(`SELECT 1 FROM "${schema}".locks`)
    await holder.cancel()
    await holder.result().catch(() => undefined)
    await expect(triarch.submit(alone, 1, { transaction: client })).rejects.toMatchObject(conflict)
    await client.query('ROLLBACK')
    await begin()
    const task = await triarch.submit(alone, 1, { transaction: client })
    await client.query('COMMIT')
    expect(await task.result()).toBe(1)
  })

  it('a lock is never had twice, and a refusal is true', async () => {
    await begin()
    await client.query(`SELECT 1 FROM "${schema}".locks`)
    const holder = await triarch.submit(told, 'on', { exclusive: { key: 'k' } })
    await expect(triarch.submit(alone, 1, { transaction: client })).rejects.toMatchObject(conflict)
    await client.query('ROLLBACK')
    await begin()
    const refused = triarch.submit(alone, 1, { transaction: client, exclusive: { ifHeld: 'reject' } })
    await expect(refused).rejects.toMatchObject({ code: 'LOCK_HELD', details: { by: [holder.id] } })
    await client.query('ROLLBACK')
    await begin()
    await client.query(`SELECT 1 FROM "${schema}".locks`)
    await holder.signal('go')
    await holder.result()
    const late = triarch.submit(alone, 1, { transaction: client, exclusive: { ifHeld: 'reject' } })
    await expect(late).rejects.toMatchObject(conflict)
  })

  it('a task never misses the end of the one it comes after, nor takes it for unknown', async () => {
    const first = await triarch.submit(told, 'on', { id: 'first' })
    await begin()
    await client.query(`SELECT 1 FROM "${schema}".tasks`)
    await first.signal('go')
    await first.result()
    await triarch.submit(echo, 1, { id: 'younger' })
    await expect(triarch.submit(echo, 1, { after: 'first', transaction: client })).rejects.toMatchObject(conflict)
    await client.query('ROLLBACK')
    await begin()
    await client.query(`SELECT 1 FROM "${schema}".tasks`)
    await triarch.submit(echo, 1, { id: 'youngest' })
    await expect(triarch.submit(echo, 1, { after: 'youngest', transaction: client })).rejects.toMatchObject(conflict)
    await client.query('ROLLBACK')
    await begin()
    const [after, never] = [
      await triarch.submit(echo, 1, { after: 'first', transaction: client }),
      await triarch.submit(echo, 2, { after: 'never', transaction: client }),
    ]
    await client.query('COMMIT')
    expect(await after.result()).toBe(1)
    await expect(never.result()).rejects.toMatchObject({ code: 'TASK_FAILED' })
  })
})

describe('where transactions are repeatable read by default, and texts read otherwise', () => {
  const role = `strict_${process.pid}`
  beforeAll(async () => {
    await pool.query(`CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD 'strict'`)
    await pool.query(`ALTER ROLE ${role} SET default_transaction_isolation = 'repeatable read'`)
    for (const other of ['standard_conforming_strings', 'array_nulls'])
      await pool.query(`ALTER ROLE ${role} SET ${other} = off`)
  })
  afterAll(() => pool.query(`DROP ROLE ${role}`))
  const url = () => {
    const its = new URL(serverUrl())
    its.username = role
    its.password = 'strict'
    return its.toString()
  }

  it('a store of its own asks for what its statements are written for', async () => {
    const own = freshSchema()
    const strict = new Triarch({
      store: postgres({ url: url(), schema: own }),
      workflows: [alone],
    })
    await strict.start()
    const tasks = await Promise.all(
      Array.from({ length: 10 }, (_, n) => strict.submit(alone, n, { tags: { n: `\\${n}` } })),
    )
    expect(await Promise.all(tasks.map((task) => task.result()))).toEqual(Array.from({ length: 10 }, (_, n) => n))
    await strict.stop()
    await dropSchema(own)
  })

  it('and nothing of a session can be set, it says what to do', async () => {
    const strict = new Triarch({ store: postgres({ url: url(), schema: freshSchema(), notify: false }) })
    await expect(strict.start()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('default_transaction_isolation'),
    })
  })
})
