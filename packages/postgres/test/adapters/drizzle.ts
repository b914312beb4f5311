import { type SQL, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import type { Client } from 'pg'

/** `transaction` for triarch.submit: inside `db.transaction(async (tx) => …)`. */
export function viaDrizzle<R>(tx: { execute(query: SQL): R }) {
  const part = (text: string, index: number, values: unknown[]) =>
    index % 2 === 0 ? sql.raw(text) : sql`${sql.param(values[Number(text) - 1])}`
  return {
    query: (text: string, values: unknown[]): R =>
      tx.execute(sql.join(text.split(/\$(\d+)/).map((it, index) => part(it, index, values)))),
  }
}

/** Drizzle inside task.transaction, on its client. */
export function drizzleOn(tx: Pick<Client, 'query'>) {
  return drizzle(tx as Client)
}
