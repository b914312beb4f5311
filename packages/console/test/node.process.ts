// A node that is to be killed, or that takes over: node node.process.ts FILE hang|ship
import { agent, Triarch, workflow } from 'triarch'
import { sqlite } from 'triarch/sqlite'

const [file = '', mode] = process.argv.slice(2)
const depot = agent('depot')
const ship = depot.action('ship', {
  run: async (_: null) => (mode === 'hang' ? new Promise<string>(() => undefined) : 'shipped'),
  attemptWithin: '10m',
  // Whoever takes over may do it again.
  verify: async () => ({ done: false as const }),
})
const parcel = workflow('parcel', { run: (_: null, task) => task.run(ship, null) })
const triarch = new Triarch({
  ...{ store: sqlite(file), workflows: [parcel], agents: [depot] },
  ...{ lease: '2s', sweep: '100ms', notices: false },
})
await triarch.start()
process.send?.('started')
