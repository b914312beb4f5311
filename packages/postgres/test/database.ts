import pg from 'pg'
import { isTriarchError } from '../../triarch/src/index.ts'
import { turn } from '../../triarch/test/store/clock.ts'
import type { Subject } from '../../triarch/test/store/conformance.ts'
import { type PostgresOptions, postgres } from '../src/index.ts'

/** The server the tests run on. */
export function serverUrl(): string {
  const url = process.env.TRIARCH_POSTGRES_URL
  if (!url) throw new Error('TRIARCH_POSTGRES_URL is not set')
  return url
}

let schemas = 0

/** A name no other test has. */
export function freshSchema(): string {
  return `test_${process.pid}_${++schemas}`
}

/** Runs the body with a connection of its own. */
export async function withClient<T>(body: (client: pg.Client) => Promise<T>, url = serverUrl()): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await body(client)
  } finally {
    await client.end()
  }
}

export async function dropSchema(schema: string): Promise<void> {
  await withClient((client) => client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`))
}

/** As good as new, and quicker to have: rows are deleted where there are any, for TRUNCATE writes new files for each table and index. */
export async function emptySchema(schema: string): Promise<void> {
  await withClient((client) =>
    client.query(`DO $$ DECLARE one record; found boolean; BEGIN
      -- No trigger has anything to say of it.
      SET LOCAL session_replication_role = replica;
      FOR one IN SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
                 WHERE schemaname = '${schema}' AND tablename NOT IN ('schema_version', 'migrations') LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', one.name) INTO found;
        IF found THEN EXECUTE format('DELETE FROM %s', one.name); END IF;
      END LOOP;
      FOR one IN SELECT format('%I.%I', schemaname, sequencename) AS name, start_value AS first FROM pg_sequences
                 WHERE schemaname = '${schema}' AND last_value IS NOT NULL LOOP
        PERFORM setval(one.name, one.first, false);
      END LOOP;
    END $$`),
  )
}

/** Runs the body in a transaction; rolls back when it throws. */
export async function inTransaction(body: (client: pg.Client) => Promise<void>): Promise<void> {
  await withClient(async (client) => {
    await client.query('BEGIN')
    try {
      await body(client)
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    }
  })
}

/** Who waits for rows for long is sent away with STORE_BUSY: asks again until it is not. */
export async function untilFree<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isTriarchError(error, 'STORE_BUSY')) throw error
    }
  }
}

/** Until so many wait for the client's transaction. */
export async function waitedFor(client: pg.Client, count: number): Promise<void> {
  const waiting = `SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid`
  while ((await client.query<{ n: number }>(waiting)).rows[0]?.n !== count) await turn()
}

async function sql(tx: unknown, text: string): Promise<unknown> {
  const { rows } = await (tx as pg.ClientBase).query({ text, rowMode: 'array' })
  return rows[0]?.[0]
}

/** A store for the suites: they move the clock by hand, so it takes its time from there. */
export function subjectIn(schema: string, options: PostgresOptions = {}): () => Promise<Subject> {
  // The suite's clock runs ahead while it waits, the server's answers are real: no patience by that clock is enough.
  const patience = { patience: 86_400_000, answerWithin: 86_400_000 }
  return async () => ({
    store: postgres({ url: serverUrl(), schema, clock: 'environment', connections: 4, ...patience, ...options }),
    transaction: inTransaction,
    sql,
    table: (name) => `"${schema}".${name}`,
    dispose: () => emptySchema(schema),
  })
}
