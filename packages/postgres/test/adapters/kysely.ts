import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely'
import type { PoolClient } from 'pg'

/** `transaction` for triarch.submit: inside `db.transaction().execute(async (trx) => …)`. */
export function viaKysely<DB>(trx: Transaction<DB>) {
  return { query: (text: string, values: unknown[]) => trx.executeQuery(CompiledQuery.raw(text, values)) }
}

/** Kysely inside task.transaction, on its client. */
export function kyselyOn<DB>(tx: Pick<PoolClient, 'query'>): Kysely<DB> {
  const client = { query: tx.query.bind(tx), release: () => undefined } as PoolClient
  return new Kysely<DB>({
    dialect: new PostgresDialect({ pool: { connect: async () => client, end: async () => {} } }),
  })
}
