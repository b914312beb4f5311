// The shop's web process: takes orders, and does none of the work.
//   node web.ts --port 0 --db orders.db
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { isTriarchError, Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { fulfilOrder, type Order } from './shop.ts'

// Standard input is a pipe from the parent: it ends when the parent does, and so does this process. Leaving at once is safe.
process.stdin.resume().once('close', () => process.exit())

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, db: { type: 'string', default: 'orders.db' } },
})

// Never started, so it plays no role: a Triarch that only submits.
const triarch = new Triarch({ store: sqlite(values.db), workflows: [fulfilOrder] })
await triarch.open()

// The shop's own table, in the same file as the tasks.
const db = new DatabaseSync(values.db, { timeout: 2_000 })
db.exec(`
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY, item TEXT NOT NULL, total INTEGER NOT NULL, email TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT;
`)
const insert = db.prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING')

/** The order and its task come into being together, or not at all. A repeated request finds both there and is harmless. */
async function place(order: Order): Promise<void> {
  db.exec('BEGIN IMMEDIATE')
  try {
    insert.run(order.id, order.item, order.total, order.email, Date.now())
    await triarch.submit(fulfilOrder, order, { id: order.id, via: db })
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

// A connection has one transaction at a time, so orders are placed one after the other.
let last: Promise<unknown> = Promise.resolve()
function placeInTurn(order: Order): Promise<void> {
  const placed = last.then(() => place(order))
  last = placed.catch(() => undefined)
  return placed
}

function parseOrder(body: string): Order | null {
  try {
    const { id, item, total, email } = JSON.parse(body)
    const sound = /^order-\d+$/.test(id) && Number.isSafeInteger(total) && total > 0
    return sound && typeof item === 'string' && typeof email === 'string' ? { id, item, total, email } : null
  } catch {
    return null
  }
}

async function answer(body: string): Promise<[status: number, body: object]> {
  const order = parseOrder(body)
  if (!order) return [400, { error: 'this is no order' }]
  try {
    await placeInTurn(order)
    return [202, { id: order.id }]
  } catch (error) {
    if (isTriarchError(error, 'TASK_EXISTS')) return [409, { error: `${order.id} is another order` }]
    return [503, { error: String(error) }]
  }
}

const server = createServer(async (request, response) => {
  const wanted = request.method === 'POST' && request.url === '/orders'
  const [status, body] = wanted ? await answer(await text(request)) : [404, { error: 'POST /orders' }]
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
})
