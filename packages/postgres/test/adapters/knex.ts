import knex, { type Knex } from 'knex'
import type { Client } from 'pg'

/** `transaction` for triarch.submit: inside `db.transaction(async (trx) => …)`. */
export function viaKnex(trx: Knex.Transaction) {
  return {
    query: async (text: string, values: unknown[]): Promise<{ rows: unknown[] }> => {
      const places = [...text.matchAll(/\$(\d+)/g)].map(([, place]) => values[Number(place) - 1] as string)
      return trx.raw(text.replaceAll(/\$\d+/g, '?'), places)
    },
  }
}

/** Knex inside task.transaction, on its client. */
export function knexOn(tx: Pick<Client, 'query'>): Knex {
  const db = knex({ client: 'pg' })
  Object.assign(db.client, { acquireConnection: async () => tx, releaseConnection: async () => undefined })
  return db
}
