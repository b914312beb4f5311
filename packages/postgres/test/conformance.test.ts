import { afterAll } from 'vitest'
import { type Subject, storeConformance } from '../../triarch/test/store/conformance.ts'
import { type PostgresOptions, postgres } from '../src/index.ts'
import { dropSchema, emptySchema, freshSchema, inTransaction, serverUrl } from './database.ts'

const schema = freshSchema()
afterAll(() => dropSchema(schema))

/** The suite moves the clock by hand, so the store takes its time from there; `server.test.ts` examines the server's. */
function onServer(options: Partial<PostgresOptions>): () => Promise<Subject> {
  // The suite's clock runs ahead while it waits, the server's answers are real: no patience by that clock is enough.
  const patience = { patience: 86_400_000, answerWithin: 86_400_000 }
  return async () => ({
    store: postgres({ url: serverUrl(), schema, clock: 'environment', connections: 4, ...patience, ...options }),
    transaction: inTransaction,
    dispose: () => emptySchema(schema),
  })
}

storeConformance('the PostgreSQL store', onServer({}), { shared: true })
storeConformance('the PostgreSQL store behind a transaction pooler', onServer({ notify: false }), { shared: true })
