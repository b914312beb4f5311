import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Role, Triarch, workflow } from 'triarch'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DatabaseServer } from '../../../examples/orders/database/server.ts'
import { asked, beside, copy } from '../../../tools/chaos/backup.ts'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import { queryOf } from '../../triarch/test/store/listing.ts'
import { newTask } from '../../triarch/test/store/samples.ts'
import { postgres, type ReadFrom } from '../src/index.ts'

const shelf = workflow('shelf', { run: (_: null, task) => task.waitForSignal('sold') })
const bell = workflow('bell', { run: async () => 'rung' })
const workflows = [shelf, bell]

/** Longer than any of this takes (ms). */
const PATIENT = 600_000

let folder: string
let data: string
let primary: DatabaseServer
let standby: DatabaseServer
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'triarch-replica-'))
  primary = await DatabaseServer.create(folder, { settings: { fsync: 'off', shared_buffers: '32MB' } })
  data = beside(primary)
  await copy(primary, data)
  standby = await follow()
})
afterAll(async () => {
  await standby?.stop('immediate')
  await primary?.stop('immediate')
  for (const path of [data, primary && realpathSync(primary.data), folder])
    if (path) rmSync(path, { recursive: true, force: true })
})

const follow = () => primary.beside(data, { primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres` })
const replay = (what: 'pause' | 'resume') => asked(standby, (client) => client.query(`SELECT pg_wal_replay_${what}()`))

/** Who only looks, at the standby; and somebody else, who knows of none. */
function reader(readFrom: ReadFrom = {}, roles: Role[] = []): Triarch {
  const store = postgres({ url: primary.url(), readFrom: { url: standby.url(), maxLag: PATIENT, ...readFrom } })
  return new Triarch({ store, workflows, roles, notices: false, health: { cache: 0 } })
}
function writer(): Triarch {
  return new Triarch({ store: postgres(primary.url()), workflows, roles: [], notices: false })
}

const ids = async (triarch: Triarch) => (await triarch.tasks.list({ limit: 1_000 })).tasks.map(({ id }) => id)
const lagOf = async (triarch: Triarch) => (await triarch.health.check()).checks.find(({ name }) => name === 'replica')

/** The standby has all there is. */
async function even(): Promise<void> {
  const place = await asked(primary, async (client) => {
    return (await client.query<{ at: string }>('SELECT pg_current_wal_insert_lsn()::text AS at')).rows[0]?.at
  })
  const there = () =>
    asked(standby, async (client) => {
      const found = await client.query<{ it: boolean }>('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS it', [place])
      return found.rows[0]?.it
    })
  await expect.poll(there, { interval: 20 }).toBe(true)
}

describe('what users ask, with a standby to read from', () => {
  let other: Triarch
  let number = 0
  beforeEach(async () => {
    other = writer()
    await other.start()
    return () => other.stop()
  })
  const added = async (by = other) => (await by.submit(shelf, null, { id: `t-${++number}` })).id

  it('comes from the standby, which is behind while it does not replay, and says by how much', async () => {
    await using triarch = reader()
    const before = await added()
    await even()
    expect(await ids(triarch)).toContain(before)
    // What the nodes write meanwhile, it has a moment later.
    await expect.poll(() => lagOf(triarch), { interval: 20 }).toMatchObject({ status: 'ok', observed: { lag: 0 } })
    await replay('pause')
    try {
      const after = await added()
      expect(await ids(triarch)).toContain(before)
      expect(await ids(triarch)).not.toContain(after)
      expect((await triarch.tasks.count({ filter: `id:${after}` })).count).toBe(0)
      expect((await triarch.statistics.get()).tasks).toBe((await other.statistics.get()).tasks - 1)
      // What one task is, the primary says.
      expect((await triarch.tasks.get(after).status()).id).toBe(after)
      await expect.poll(async () => Number((await lagOf(triarch))?.observed?.lag)).toBeGreaterThan(300)
      expect(await lagOf(triarch)).toMatchObject({ message: expect.stringMatching(/^it is \d+ ms behind$/) })
    } finally {
      await replay('resume')
    }
    await even()
    await expect.poll(async () => (await lagOf(triarch))?.observed).toEqual({ lag: 0 })
  })

  it('has what was just done here, however far behind the standby is', async () => {
    await using triarch = reader()
    await even()
    await replay('pause')
    try {
      expect(await ids(triarch)).not.toEqual([])
      const own = await added(triarch)
      expect(await ids(triarch)).toContain(own)
      const before = (await other.statistics.get()).tasks
      expect((await triarch.statistics.get()).tasks).toBe(before)
      await triarch.settings
        .get('triarch.agent.depot')
        .set({ paused: 'stock-taking' }, { reason: 'each year', actor: 'ada' })
      expect((await triarch.audit.list({ actor: 'ada' })).entries).toHaveLength(1)
    } finally {
      await replay('resume')
    }
  })

  it('has what came of a task that ran here, whoever submitted it', async () => {
    const { id } = await other.submit(bell, null, { id: `t-${++number}` })
    await even()
    await replay('pause')
    try {
      await using node = reader({}, ['scheduler', 'agent'])
      await node.start()
      expect(await node.tasks.get(id).result()).toBe('rung')
      expect((await node.tasks.list({ filter: `id:${id}` })).tasks).toMatchObject([{ status: 'stopped' }])
    } finally {
      await replay('resume')
    }
  })

  it('has what a transaction committed here, however long it took', async () => {
    let passed = 0
    const environment = systemEnvironment()
    const monotonic = () => environment.monotonic() + passed
    const readFrom = { url: standby.url(), maxLag: PATIENT }
    const store = postgres({ url: primary.url(), readFrom })(
      Object.create(environment, { monotonic: { value: monotonic } }),
    )
    await store.open()
    await store.heartbeat({ id: 'n', roles: [], lease: PATIENT })
    await store.elect({ name: 'lead', node: 'n', expected: 0 })
    await even()
    await replay('pause')
    try {
      const leading = { name: 'lead', node: 'n', token: 1 }
      const bounds = { within: PATIENT, signal: new AbortController().signal, isolation: 'read committed' } as const
      await store.transact?.(leading, bounds, async (tx) => {
        await store.submitIn?.(tx, [newTask('late')])
        passed += 60_000
        return 'null'
      })
      const { rows } = await store.list({ ...queryOf({ filter: 'id:late' }), copy: true })
      expect(rows).toHaveLength(1)
    } finally {
      await replay('resume')
      await store.close()
    }
  })

  it('comes from the primary where the standby is further behind than it may be', async () => {
    await using triarch = reader({ maxLag: 100 })
    await even()
    await ids(triarch)
    await replay('pause')
    try {
      const late = await added()
      await expect.poll(() => ids(triarch)).toContain(late)
    } finally {
      await replay('resume')
    }
  })

  it('comes from the primary when the standby dies, and from the standby once it is back', async () => {
    await using triarch = reader()
    await even()
    await ids(triarch)
    await standby.stop('immediate')
    const meanwhile = await added()
    expect(await ids(triarch)).toContain(meanwhile)
    expect(await lagOf(triarch)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('the primary answers'),
    })
    await standby.start()
    await even()
    await replay('pause')
    try {
      // It is asked again in a while: then what came since is not seen.
      const hidden = async () => {
        const id = await added()
        return !(await ids(triarch)).includes(id)
      }
      await expect.poll(hidden, { interval: 200, timeout: 30_000 }).toBe(true)
    } finally {
      await replay('resume')
    }
  })

  it('never comes from what was a standby, and is a database of its own by now', async () => {
    await using triarch = reader()
    await even()
    await ids(triarch)
    await asked(standby, (client) => client.query('SELECT pg_promote()'))
    const after = await added()
    await expect.poll(() => ids(triarch)).toContain(after)
    expect(await lagOf(triarch)).toMatchObject({ status: 'warning' })
  })
})

it.each([
  [{ readFrom: '' }, 'INVALID_OPTION'],
  [{ readFrom: {} }, 'INVALID_OPTION'],
  [{ readFrom: { url: 'postgres://replica/shop', maxLag: -1 } }, 'INVALID_OPTION'],
  [{ readFrom: { url: 'postgres://replica/shop', lag: 1 } as ReadFrom }, 'UNKNOWN_OPTION'],
])('an option that makes no sense is refused: %j', (options, code) => {
  expect(() => postgres({ url: 'postgres://db/shop', ...options })).toThrow(expect.objectContaining({ code }))
})
