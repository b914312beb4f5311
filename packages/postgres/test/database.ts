import pg from 'pg'

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

const tables = ['tasks', 'history', 'inbox', 'work', 'tags', 'nodes', 'leases', 'calls']

/** As good as new, and quicker to have. */
export async function emptySchema(schema: string): Promise<void> {
  const names = tables.map((table) => `"${schema}".${table}`).join(', ')
  await withClient((client) => client.query(`TRUNCATE ${names} RESTART IDENTITY`))
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
