import { Triarch } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { own, pace } from './direct.ts'

const [path = '', role] = process.argv.slice(2)
const { agent, flow } = own(async () => {
  process.send?.('began')
  await new Promise(() => undefined)
})
const store = sqlite(path, { writer: 'inline' })
const triarch =
  role === 'agent'
    ? new Triarch({ store, ...pace, roles: ['agent'], agents: [agent] })
    : new Triarch({ store, ...pace, roles: ['scheduler', 'supervisor'], workflows: [flow] })
process.once('disconnect', () => process.exit())
await triarch.start()
process.send?.('ready')
