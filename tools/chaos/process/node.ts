// One node under test: node node.ts <role>... --store URL --ledger FILE [--no-hints] [--direct]
import { parseArgs } from 'node:util'
import { postgres } from '@triarch/postgres'
import { type Role, stopOnSignals, Triarch } from 'triarch'
import { agents, fulfilOrder } from '../../../examples/orders/shop.ts'
import { Ledger } from '../../../packages/triarch/test/crash/ledger.ts'
import { workload } from '../../../packages/triarch/test/crash/workload.ts'
import { settings } from '../settings.ts'
import { bystander, echo, keyed, poisonous } from '../workflows.ts'
import { steppable } from './clock.ts'
import { complaint } from './complaint.ts'
import { watched } from './watched.ts'

// Standard input is a pipe from the harness: it ends when the harness does, and so does this process.
process.stdin.resume().once('close', () => process.exit())
// Services and the ledger go by the true time, whatever the engine's clock is made to say.
const truly = steppable(process.stdin)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    store: { type: 'string', default: '' },
    ledger: { type: 'string', default: '' },
    diary: { type: 'string', default: '' },
    hints: { type: 'boolean', default: true },
    direct: { type: 'boolean', default: false },
  },
})
const ledger = new Ledger(values.ledger, truly)
const drill = workload(ledger)
const { agent: poisoned, workflow: poison } = poisonous(values.diary)

const triarch = new Triarch({
  store: postgres({ url: values.store, notify: values.hints }),
  workflows: [fulfilOrder, ...Object.values(drill.workflows), bystander, echo, keyed, poison],
  agents: [...agents.map((own) => watched(own, ledger)), ...drill.agents, poisoned],
  roles: positionals as Role[],
  direct: values.direct,
  ...settings,
  onError: complaint(ledger, `${positionals}`, truly),
})
triarch.on('alert', ({ task, message }) => console.error(`alert: ${task}: ${message}`))
await triarch.start()
stopOnSignals(triarch, ['SIGTERM'])
console.log(JSON.stringify({ roles: positionals }))
