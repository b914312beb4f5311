// One Triarch node: a process that plays the roles it is given.
//   node node.ts scheduler agent supervisor --db orders.db
import { parseArgs } from 'node:util'
import { type Role, stopOnSignals, Triarch } from 'triarch'
import { storeAt } from './counter.ts'
import { agents, fulfilOrder } from './shop.ts'

// Standard input is a pipe from the parent: it ends when the parent does, and so does this process.
process.stdin.resume().once('close', () => process.exit())

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { db: { type: 'string', default: 'orders.db' } },
})

const triarch = new Triarch({
  store: storeAt(values.db),
  workflows: [fulfilOrder],
  agents,
  roles: positionals as Role[],
  // Short, so that a demonstration need not wait long for the dead to be noticed. What a dead node had asked of a service
  // is looked up after the lease, so let it outlast every request: half as long again as `attemptWithin` is enough.
  lease: '1500ms',
  sweep: '250ms',
  poll: '10ms',
  grace: '3s',
})
triarch.on('alert', ({ task, message }) => console.error(`alert: ${task ? `${task}: ` : ''}${message}`))
await triarch.start()
// Asked to go: finish what runs, hand the rest back. Asked again: leave at once; nothing is lost either way.
stopOnSignals(triarch, ['SIGTERM'])
const own = (await triarch.nodes()).find(({ place }) => place?.pid === process.pid)
console.log(JSON.stringify({ node: own?.id })) // ready: from here on it may be told to stop
