import type pg from 'pg'

const TABLES = 'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 ORDER BY tablename'
const COLUMNS = `
SELECT column_name AS name FROM information_schema.columns
WHERE table_schema = $1 AND table_name = $2 AND is_generated = 'NEVER' ORDER BY ordinal_position`
const SEQUENCES =
  'SELECT sequencename AS name, last_value AS last FROM pg_sequences WHERE schemaname = $1 AND last_value IS NOT NULL'

/** All rows of a schema as SQL, for a schema of the name `triarch` that is set up and empty. */
export async function rowsOf(client: pg.Client, schema: string): Promise<string[]> {
  const lines: string[] = []
  const tables = await client.query<{ name: string }>(TABLES, [schema])
  for (const { name: table } of tables.rows) {
    const columns = await client.query<{ name: string }>(COLUMNS, [schema, table])
    const names = columns.rows.map(({ name }) => `"${name}"`)
    const values = names.map((name) => `quote_nullable(${name}::text)`).join(` || ', ' || `)
    const { rows } = await client.query<{ row: string }>(`SELECT ${values} AS row FROM "${schema}"."${table}"`)
    const into = `INSERT INTO triarch.${table} (${names.join(', ')}) OVERRIDING SYSTEM VALUE VALUES`
    for (const { row } of rows) lines.push(`${into} (${row});`)
  }
  const sequences = await client.query<{ name: string; last: string }>(SEQUENCES, [schema])
  for (const { name, last } of sequences.rows) lines.push(`SELECT setval('triarch.${name}', ${last});`)
  return lines
}
