import { agent, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

const service = agent('service')
const next = service.action('next', { run: (n) => n + 1 })
const flow = workflow('flow', { run: (n, task) => task.run(next, n) })

/** Opened with the first request: a build loads this file, too. */
let opened

export async function POST() {
  opened ??= open()
  const triarch = await opened
  const task = await triarch.submit(flow, 41)
  return Response.json({ result: await task.result() })
}

async function open() {
  const store = sqlite('tasks.db', { writer: 'worker' })
  const triarch = new Triarch({ store, workflows: [flow], agents: [service] })
  await triarch.start()
  return triarch
}
