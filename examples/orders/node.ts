// One Triarch node: a process that plays the roles it is given.
//   node node.ts scheduler agent supervisor --db orders.db
import { parseArgs } from 'node:util'
import { type Role, stopOnSignals, Triarch } from 'triarch'
import { storeAt } from './counter.ts'
import { lease } from './lease.ts'
import { agents, fulfilOrder } from './shop.ts'

// Standard input is a pipe from the parent: it ends when the parent does, and so does this process.
process.stdin.resume().once('close', () => process.exit())

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    db: { type: 'string', default: 'orders.db' },
    without: { type: 'string', multiple: true, default: [] },
  },
})

const triarch = new Triarch({
  store: storeAt(values.db),
  workflows: [fulfilOrder],
  // Those that are elsewhere are left to others: see fleet.ts.
  agents: agents.filter(({ name }) => !values.without.includes(name)),
  roles: positionals as Role[],
  statistics: {},
  ...lease,
})
triarch.on('alert', ({ task, message }) => console.error(`alert: ${task ? `${task}: ` : ''}${message}`))
await triarch.start()
// Asked to go: finish what runs, hand the rest back. Asked again: leave at once; nothing is lost either way.
stopOnSignals(triarch, ['SIGTERM'])
const own = (await triarch.nodes.list()).find(({ place }) => place?.pid === process.pid)
console.log(JSON.stringify({ node: own?.id })) // ready: from here on it may be told to stop
