import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemEnvironment } from '../../triarch/src/environment/system.ts'
import { storeConformance } from '../../triarch/test/store/conformance.ts'
import { newTask } from '../../triarch/test/store/samples.ts'
import { postgres } from '../src/index.ts'
import { dropSchema, freshSchema, serverUrl, subjectIn, withClient } from './database.ts'
import { type Pooler, pooler } from './pooler.ts'

const schema = freshSchema()
afterAll(() => dropSchema(schema))

describe('behind a transaction pooler', () => {
  let pool: Pooler
  beforeAll(async () => {
    // The plans of a server that has looked at the tables when nothing was in them: no bound may hang on those.
    const tables = `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') FROM pg_tables WHERE schemaname = '${schema}'`
    await withClient(async (client) => {
      const { rows } = await client.query({ text: tables, rowMode: 'array' })
      await client.query(`ANALYZE ${rows[0]}`)
    })
    pool = await pooler(serverUrl(), 3)
  })
  afterAll(() => pool[Symbol.asyncDispose]())

  const subject = () => subjectIn(schema, { url: pool.url, notify: false })()
  storeConformance('the PostgreSQL store', subject, { shared: true })

  it('sessions hold nothing: the store with notifications is refused, the one without passes', async () => {
    const before = pool.transactions
    const withSessions = postgres({ url: pool.url, schema, patience: 0 })(systemEnvironment())
    await expect(withSessions.open()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(pool.transactions).toBe(before)
    const without = postgres({ url: pool.url, schema, notify: false })(systemEnvironment())
    await without.open()
    await without.submit([newTask('t')])
    expect(await without.task('t')).toMatchObject({ id: 't' })
    expect(pool.transactions).toBeGreaterThan(before + 2)
    await without.close()
  })
})
