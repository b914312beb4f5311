// A process that serves: node listen.process.ts FILE
import { Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { createServer } from '../src/index.ts'

const never = workflow('never', { run: (_: unknown, task) => task.waitForSignal('never') })
const triarch = new Triarch({ store: sqlite(process.argv[2] ?? ''), workflows: [never] })
await triarch.start()
const { url } = await createServer(triarch, { workflows: [never] }).listen({ port: 0 })
console.log(url)
