// A server with a small heap, on a store with tasks of 240 KB: node memory.process.ts FILE. It prints where it listens.
import { Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { createServer } from '../src/index.ts'

const TASKS = 200
const large = workflow('large', { run: async ({ n }: { n: number }) => `${n}`.padEnd(240_000, 'x') })

const [path = ''] = process.argv.slice(2)
const triarch = new Triarch({ store: sqlite(path), workflows: [large], limits: { payload: 300_000 } })
await triarch.start()
for (let n = 0; n < TASKS; n++) await (await triarch.submit(large, { n }, { priority: n % 7 })).result()
const { url } = await createServer(triarch).listen({ port: 0, signals: [] })
console.log(url)
