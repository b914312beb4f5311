import type { Template } from './template.ts'

const orders = `import { agent, workflow } from 'triarch'

export interface Order {
  id: string
  amount: number
}

export const bank = agent('bank')
const charge = bank.action('charge', {
  run: async ({ id, amount }: Order) => ({ receipt: \`\${id}-\${amount}\` }),
  undo: async ({ output }) => console.log('refunded', output.receipt),
})

export const fulfil = workflow('fulfil', {
  async run(order: Order, task) {
    const { receipt } = await task.run(charge, order)
    return receipt
  },
})
`
const main = `import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { postgres } from '@triarch/postgres'
import { isTriarchError, Triarch } from 'triarch'
import { bank, fulfil, type Order } from './orders.ts'

const triarch = new Triarch({
  store: postgres(process.env.DATABASE_URL ?? 'postgres://shop:shop@127.0.0.1:5432/shop'),
  workflows: [fulfil],
  agents: [bank],
})
await triarch.start()

/** POST /orders starts the task of an order; GET /orders/ID says how it is. */
async function answer(request: IncomingMessage): Promise<[status: number, body: unknown]> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  if (request.method === 'POST' && pathname === '/orders') {
    const { id, amount } = (await json(request)) as Partial<Order>
    if (typeof id !== 'string' || typeof amount !== 'number') return [400, { error: 'give id and amount' }]
    // Sent twice, it is the same order.
    const task = await triarch.submit(fulfil, { id, amount }, { id: \`order-\${id}\` })
    return [202, { task: task.id }]
  }
  if (request.method === 'GET' && pathname.startsWith('/orders/')) {
    const { status, outcome, output } = await triarch.tasks.get(\`order-\${pathname.slice(8)}\`).status()
    return [200, { status, outcome, output }]
  }
  return [404, { error: 'nothing is here' }]
}

const server = createServer((request, response) => {
  answer(request)
    .catch((error: unknown): [number, unknown] => {
      if (error instanceof SyntaxError) return [400, { error: 'this is not JSON' }]
      if (isTriarchError(error)) return [error.code === 'UNKNOWN_TASK' ? 404 : 503, { error: error.code }]
      console.error(error)
      return [500, { error: 'something went wrong' }]
    })
    .then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
})
server.listen(Number(process.env.PORT ?? 3000), () => {
  const address = server.address()
  console.log(\`http://localhost:\${typeof address === 'object' ? address?.port : address}\`)
})

// First the last request, then the tasks: others take them over.
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => server.close(() => void triarch.stop()))
`

/** A web application. */
export const web: Template = {
  about: 'a web application on PostgreSQL',
  dependencies: ['triarch', '@triarch/postgres'],
  scripts: { start: 'node src/main.ts' },
  files: {
    'src/orders.ts': orders,
    'src/main.ts': main,
    'compose.yml': `services:
  database:
    image: postgres:17
    environment: { POSTGRES_USER: shop, POSTGRES_PASSWORD: shop, POSTGRES_DB: shop }
    ports: ['127.0.0.1:5432:5432']
`,
    'README.md': `# A web application

\`docker compose up -d\` starts PostgreSQL (or set \`DATABASE_URL\`), \`npm start\` the application:

    curl -d '{"id":"1","amount":10}' http://localhost:3000/orders
    curl http://localhost:3000/orders/1
`,
  },
}
