// A failover that loses the tail: a standby follows the database for a moment, is cut off, and takes its place when the database
// dies. What was acknowledged in between is gone, and the nodes live through it.
import { realpathSync, renameSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { DatabaseServer } from '../../examples/orders/database/server.ts'
import { asked, beside, copy } from './backup.ts'

/** What a failover lost. */
export interface LostTail {
  /** Tasks of which anything was lost: the task, records, letters, requests, a claim. */
  touched: string[]
  /** Those of them that are not there at all any more. */
  vanished: string[]
}

/** All that belongs to a task, as far as it can be lost. Rows are the same on both servers, down to who wrote them. */
const MARKS = `
SELECT t.id, concat(t.xmin, ' ',
  (SELECT concat(count(*), ' ', max(h.seq)) FROM triarch.history h WHERE h.task = t.key), ' ',
  (SELECT string_agg(concat(i.id, ':', i.xmin), ',' ORDER BY i.id) FROM triarch.inbox i WHERE i.task = t.key), ' ',
  (SELECT string_agg(concat(w.id, ':', w.xmin), ',' ORDER BY w.id) FROM triarch.work w WHERE w.task = t.key)) AS mark
FROM triarch.tasks t`

/** How long the standby follows before it is cut off (ms). */
const FOLLOWS = 300

interface Failover {
  /** How long the database goes on acknowledging what the standby never hears of (ms). */
  lag: number
  /** What is the machine's, and no part of the data: done on the standby before anybody else comes. */
  prepare: (client: pg.Client) => Promise<unknown>
}

/** So often that lag is waited for while nothing is written. */
const MOST_LAGS = 40

/** Those that are about to. */
const failing = new WeakSet<DatabaseServer>()

/** Null: the database fails over already, or was restarted meanwhile, and has not. */
export async function failover(database: DatabaseServer, options: Failover): Promise<LostTail | null> {
  if (failing.has(database)) return null
  failing.add(database)
  try {
    return await failOver(database, options)
  } finally {
    failing.delete(database)
  }
}

async function failOver(database: DatabaseServer, { lag, prepare }: Failover): Promise<LostTail | null> {
  const link = await Link.to(database.port)
  const data = beside(database)
  let standby: DatabaseServer
  try {
    await copy(database, data)
    const conninfo = `host=127.0.0.1 port=${link.port} user=postgres`
    standby = await database.beside(data, { primary_conninfo: conninfo })
  } catch {
    link.cut()
    rmSync(data, { recursive: true, force: true })
    return null
  }
  await delay(FOLLOWS)
  link.cut()
  await untilWritten(database, lag)
  const lost = beside(database)
  let left: Map<string, string> | null = null
  await database.replace('immediate', async () => {
    const promoted = asked(standby, async (client) => {
      await client.query('SELECT pg_promote()')
      await prepare(client)
      return marks(client)
    })
    left = await promoted.catch(() => null)
    await standby.stop('fast')
    if (!left) return // it ended before: then the old one has to do
    // The new one is where the old one was, whatever leads there.
    const place = realpathSync(database.data)
    rmSync(lost, { recursive: true })
    renameSync(place, lost)
    renameSync(data, place)
  })
  const after = left as Map<string, string> | null
  if (!after) {
    for (const folder of [data, lost]) rmSync(folder, { recursive: true, force: true })
    return null
  }
  const old = await database.beside(lost)
  const before = await asked(old, marks)
  await old.stop('immediate')
  rmSync(lost, { recursive: true, force: true })
  const touched = differing(before, after)
  return { touched, vanished: touched.filter((id) => !after.has(id)) }
}

/** Tasks of which one knows what the other does not: also those that one has dropped. */
function differing(one: Map<string, string>, other: Map<string, string>): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((id) => one.get(id) !== other.get(id))
}

/** Waits for the lag, and for as long again and again as nothing was written meanwhile: a tail that nobody wrote cannot be lost. */
async function untilWritten(database: DatabaseServer, lag: number): Promise<void> {
  let seen: Map<string, string> | null = null
  for (let tries = 0; tries < MOST_LAGS; tries++) {
    // A database too busy to answer tells nothing of what is written.
    const now = await asked(database, marks).catch(() => null)
    if (seen && now && differing(seen, now).length > 0) return
    seen ??= now
    await delay(lag)
  }
}

async function marks(client: pg.Client): Promise<Map<string, string>> {
  const { rows } = await client.query<{ id: string; mark: string }>(MARKS)
  return new Map(rows.map(({ id, mark }) => [id, mark]))
}

/** What the standby hears of the database, until it is cut. */
class Link {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
  }

  static async to(port: number): Promise<Link> {
    const server = createServer()
    const link = new Link(server)
    server.on('connection', (near) => {
      const far = connect(port, '127.0.0.1')
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        link.#sockets.add(one)
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
        one.pipe(other)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return link
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  cut(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
