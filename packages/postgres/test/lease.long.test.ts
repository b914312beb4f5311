import { join } from 'node:path'
import { Client } from 'pg'
import { Triarch } from 'triarch'
import { expect, it } from 'vitest'
import { leaseSuite } from '../../triarch/test/lease/lease.suite.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl } from './database.ts'

const module = join(import.meta.dirname, 'lease.worker.ts')

const tables = { 'the table of histories': 'history', 'the table of nodes': 'nodes' }

leaseSuite('the lease of a process on PostgreSQL', module, Object.keys(tables), async () => {
  const schema = freshSchema()
  const options = { url: serverUrl(), schema }
  const hold = (table: string) => async () => {
    const client = new Client(serverUrl())
    await client.connect()
    await client.query(`BEGIN; LOCK TABLE "${schema}".${table} IN ACCESS EXCLUSIVE MODE`)
    return () => client.end()
  }
  const holds = Object.fromEntries(Object.entries(tables).map(([what, table]) => [what, hold(table)]))
  const hasty = postgres({ ...options, patience: 1_000 })
  return { store: postgres(options), hasty, target: JSON.stringify(options), holds, dispose: () => dropSchema(schema) }
})

it('a lease that no thread can renew is renewed by timers, and that is said', async () => {
  const schema = freshSchema()
  const url = new URL(serverUrl())
  // A function cannot be given to a thread.
  const connection = { password: () => Promise.resolve(decodeURIComponent(url.password)) }
  const errors: unknown[] = []
  const store = postgres({ url: serverUrl(), schema, connection: connection as never })
  const triarch = new Triarch({ store, lease: '1s', sweep: '50ms', onError: (error) => errors.push(error) })
  await triarch.start()
  expect(errors).toMatchObject([{ code: 'LEASE_UNGUARDED' }])
  const until = async () => (await triarch.nodes.list())[0]?.leaseUntil.getTime() ?? 0
  const first = await until()
  await expect.poll(until).toBeGreaterThan(first + 1_000)
  expect(await triarch.statistics.get()).toMatchObject({ fenced: 0 })
  await triarch.stop()
  await dropSchema(schema)
})
