// A program of a user's: node server.mjs FILE
import { createServer } from '@triarch/server'
import { agent, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

const service = agent('service')
const next = service.action('next', { run: (n) => n + 1 })
const flow = workflow('flow', { run: (n, task) => task.run(next, n) })

async function main() {
  const triarch = new Triarch({ store: sqlite(process.argv[2]), workflows: [flow], agents: [service] })
  await triarch.start()
  const server = createServer(triarch, { workflows: [flow] })
  const { url } = await server.listen({ port: 0, signals: [] })
  const response = await fetch(`${url}/api/v1/tasks?wait=30s`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ workflow: 'flow', input: 41 }),
  })
  const { output } = await response.json()
  await server.close()
  await triarch.stop()
  console.log(response.status, output)
}

void main()
