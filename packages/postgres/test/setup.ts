import { type Server, startServer } from './server.ts'

let server: Server | null = null

/** One server for all tests of a run, unless TRIARCH_POSTGRES_URL names another. */
export async function setup(): Promise<void> {
  if (process.env.TRIARCH_POSTGRES_URL) return
  server = await startServer()
  process.env.TRIARCH_POSTGRES_URL = server.url
}

export async function teardown(): Promise<void> {
  await server?.stop()
}
