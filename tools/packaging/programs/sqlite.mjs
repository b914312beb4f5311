// A program of a user's: node sqlite.mjs FILE
import { agent, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

const service = agent('service')
const next = service.action('next', { run: (n) => n + 1 })
const flow = workflow('flow', { run: (n, task) => task.run(next, n) })

// Not at the top level: CommonJS, into which one may bundle, has no await there.
async function main() {
  const alerts = []
  const store = sqlite(process.argv[2], { writer: 'worker' })
  const triarch = new Triarch({
    store,
    workflows: [flow],
    agents: [service],
    onError: (error) => alerts.push(error.code),
  })
  triarch.on('alert', ({ code }) => alerts.push(code))
  await triarch.start()
  const tasks = await Promise.all(Array.from({ length: 100 }, (_, n) => triarch.submit(flow, n)))
  const results = await Promise.all(tasks.map((task) => task.result()))
  await triarch.stop()
  console.log(results.length, results[41], ...alerts)
}

void main()
