// A process that serves: node listen.process.ts FILE [SHUTDOWN_DELAY]
import { Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { createServer } from '../src/index.ts'

const never = workflow('never', { run: (_: unknown, task) => task.waitForSignal('never') })
const triarch = new Triarch({ store: sqlite(process.argv[2] ?? ''), workflows: [never] })
await triarch.start()
const { url } = await createServer(triarch, { workflows: [never] }).listen({
  port: 0,
  ...(process.argv[3] && { shutdownDelay: process.argv[3] as '1h' }),
})
console.log(url)
