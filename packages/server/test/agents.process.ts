// A server that is to be killed: node agents.process.ts FILE
import { agent, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { createServer } from '../src/index.ts'

const wait = agent('mail').action('wait', {
  run: async (_: string): Promise<unknown> => null,
  verify: async () => ({ done: 'unknown' }),
  attemptWithin: '10m',
})
const flow = workflow('wait', { run: (name: string, task) => task.run(wait, name) })
const triarch = new Triarch({ store: sqlite(process.argv[2] ?? ''), workflows: [flow], lease: '1m' })
await triarch.start()
const { url } = await createServer(triarch, { workflows: [flow] }).listen({ port: 0 })
console.log(url)
