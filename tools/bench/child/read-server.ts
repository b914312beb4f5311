// A server whose callers have keys of their own, on a store with one long history: node read-server.ts PLACE STEPS
// It prints where it listens.
import './parent.ts'
import { createServer } from '@triarch/server'
import { workflow } from 'triarch'
import { add, type Count, oneStep, start } from '../subject.ts'

const [place = '', steps = '0'] = process.argv.slice(2)

const long = workflow('long', {
  async run({ n }: Count, task) {
    for (let at = 0; at < n; at++) await task.run(add, { n: at })
    await task.waitForSignal('never')
    return n
  },
})

const { engine } = await start(place, { workflows: [long] })
await engine.submit(long, { n: Number(steps) }, { id: 'long' })
for await (const { type } of engine.tasks.watch({ filter: 'id:long status:running', limit: 1, quiet: '100ms' })) {
  if (type === 'quiet' && (await engine.tasks.get('long').steps()).length >= Number(steps)) break
}
for (let n = 0; n < 1_000; n++) await engine.submit(oneStep, { n }, { id: `done-${n}` })
const keys = new Map([
  ['reader', { id: 'reader', rights: ['read'] }],
  ['shop', { id: 'shop', rights: ['start', 'read'] }],
] as const)
const server = createServer(engine, {
  workflows: [oneStep],
  authenticate: ({ headers }) => keys.get(headers.get('x-key') as 'reader') ?? null,
})
const { url } = await server.listen({ port: 0, signals: [] })
console.log(url)
