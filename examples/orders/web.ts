// The shop's web process: takes orders, tells how they stand, and does none of the work.
//   node web.ts --port 0 --db orders.db
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { files } from '@triarch/console'
import { createServer as createApi } from '@triarch/server'
import { isTriarchError, stopOnSignals, Triarch } from 'triarch'
import { openCounter, storeAt } from './counter.ts'
import { lease } from './lease.ts'
import { fulfilOrder, type Order } from './shop.ts'

// Standard input is a pipe from the parent: it ends when the parent does, and so does this process. Leaving at once is safe.
process.stdin.resume().once('close', () => process.exit())

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    db: { type: 'string', default: 'orders.db' },
    // Agents may connect: what they are asked to do leaves from here.
    agents: { type: 'boolean', default: false },
  },
})

const triarch = new Triarch({
  ...{ store: storeAt(values.db), workflows: [fulfilOrder], ...lease },
  roles: values.agents ? ['agent'] : [],
})
await triarch.start()
// It is on the list of nodes, and leaves that, too.
stopOnSignals(triarch, ['SIGTERM'])
const counter = await openCounter(values.db, triarch)
// Nothing can be started by the API itself: an order is taken here, with its row in the shop's own table.
// It is open to who reaches it: this machine, for it listens on 127.0.0.1 alone.
const api = createApi(triarch, { console: files, open: true })

function parseOrder(body: string): Order | null {
  try {
    const { id, item, total, email } = JSON.parse(body)
    const sound = /^order-\d+$/.test(id) && Number.isSafeInteger(total) && total > 0
    return sound && typeof item === 'string' && typeof email === 'string' ? { id, item, total, email } : null
  } catch {
    return null
  }
}

interface Answer {
  status: number
  body: object
  location?: string
}

/** 202 says that the order is taken; with `?wait=10s`, 200 says what became of it, if that is known by then. */
async function take(body: string, search: string): Promise<Answer> {
  const order = parseOrder(body)
  if (!order) return { status: 400, body: { error: 'this is no order' } }
  const { id } = order
  try {
    await counter.place(order)
  } catch (error) {
    if (isTriarchError(error, 'TASK_EXISTS')) return { status: 409, body: { error: `${id} is another order` } }
    return { status: 503, body: { error: String(error) } }
  }
  const location = `/api/v1/tasks/${id}`
  if (search === '') return { status: 202, location, body: { id } }
  const reply = await api.fetch(new Request(`http://localhost${location}/outcome${search}`))
  // Without an outcome the order is taken all the same.
  if (reply.status >= 500) return { status: 202, location, body: { id } }
  return { status: reply.status, location, body: { id, ...((await reply.json()) as object) } }
}

const usage = `POST /orders                          { "id": "order-1000000", "item": "lamp", "total": 4200, "email": "you@example.com" }
POST /orders?wait=10s                 the same, and what became of it in the reply
GET  /api/v1/tasks/{id}               how an order stands
GET  /api/v1/tasks/{id}/outcome?wait=10s
GET  /api/v1/tasks/{id}/events        the same as it changes (Server-Sent Events)
GET  /api/v1/tasks?filter=status:running
`

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    // Whoever went away hears nothing of it; whoever is there asks again.
    if (!response.headersSent) response.writeHead(503, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: String(error) }))
  })
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
  const isPage = pathname.startsWith('/assets/') || request.headers.accept?.includes('text/html')
  if (pathname.startsWith('/api/') || isPage) return api.node(request, response)
  if (request.method === 'GET' && pathname === '/')
    return void response.writeHead(200, { 'content-type': 'text/plain' }).end(usage)
  const wanted = request.method === 'POST' && pathname === '/orders'
  const { status, location, body } = wanted
    ? await take(await text(request), search)
    : { status: 404, location: undefined, body: { error: 'POST /orders' } }
  const headers = { 'content-type': 'application/json', ...(location !== undefined && { location }) }
  response.writeHead(status, headers).end(JSON.stringify(body))
}

const own = (await triarch.nodes.list()).find(({ place }) => place?.pid === process.pid)
server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port, node: own?.id }))
})
