import type { TransactionSql } from 'postgres'

/** `transaction` for triarch.submit: inside `sql.begin(async (sql) => …)`. */
export function viaPostgresJs(sql: TransactionSql) {
  return { query: async (text: string, values: string[]) => ({ rows: await sql.unsafe(text, values) }) }
}
