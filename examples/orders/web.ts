// The shop's web process: takes orders, and does none of the work.
//   node web.ts --port 0 --db orders.db
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { isTriarchError } from 'triarch'
import { openCounter } from './counter.ts'
import type { Order } from './shop.ts'

// Standard input is a pipe from the parent: it ends when the parent does, and so does this process. Leaving at once is safe.
process.stdin.resume().once('close', () => process.exit())
process.once('SIGTERM', () => process.exit())

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, db: { type: 'string', default: 'orders.db' } },
})

const counter = await openCounter(values.db)

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
    await counter.place(order)
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
