// A process that carries operations out: node operations.process.ts FILE KILL. Having asked KILL tasks, it kills itself.
import { middleware, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { createServer } from '../src/index.ts'

const [file = '', kill = '0'] = process.argv.slice(2)
let asked = 0
const deadly = middleware('deadly', {
  async run(call, next) {
    const output = await next()
    if (call.action === 'triarch-operation.ask' && ++asked === Number(kill)) process.kill(process.pid, 'SIGKILL')
    return output
  },
})
const listener = workflow('listener', {
  run: async (_: unknown, task) => {
    for (;;) await task.waitForSignal('note')
  },
})
const workflows = [listener]
const triarch = new Triarch({
  store: sqlite(file),
  workflows,
  operations: true,
  lease: '3s',
  middleware: [deadly],
  notices: false,
})
await triarch.start()
const { url } = await createServer(triarch, { workflows }).listen({ port: 0, signals: [] })
console.log(url)
