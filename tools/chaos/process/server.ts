// A server under test: node server.ts <role>... --store URL --ledger FILE --port N [--no-hints] [--direct]
import { parseArgs } from 'node:util'
import { postgres } from '@triarch/postgres'
import { createServer } from '@triarch/server'
import { type Role, Triarch } from 'triarch'
import { fulfilOrder } from '../../../examples/orders/shop.ts'
import { Ledger } from '../../../packages/triarch/test/crash/ledger.ts'
import { workload } from '../../../packages/triarch/test/crash/workload.ts'
import { settings } from '../settings.ts'
import { bystander, echo, keyed, poisonous } from '../workflows.ts'
import { steppable } from './clock.ts'
import { complaint } from './complaint.ts'
import { TOKEN } from './token.ts'

process.stdin.resume().once('close', () => process.exit())
const truly = steppable(process.stdin)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    store: { type: 'string', default: '' },
    ledger: { type: 'string', default: '' },
    diary: { type: 'string', default: '' },
    port: { type: 'string', default: '0' },
    hints: { type: 'boolean', default: true },
    direct: { type: 'boolean', default: false },
  },
})
const ledger = new Ledger(values.ledger, truly)
const onError = complaint(ledger, `server ${positionals}`, truly)
const workflows = [
  ...[fulfilOrder, ...Object.values(workload(ledger).workflows), bystander, echo, keyed],
  poisonous(values.diary).workflow,
]
// It hosts no agent of its own: what it takes, it takes for those that connect.
const triarch = new Triarch({
  store: postgres({ url: values.store, notify: values.hints }),
  workflows,
  roles: positionals as Role[],
  direct: values.direct,
  ...settings,
  onError,
})
await triarch.start()
const server = createServer(triarch, {
  workflows,
  authenticate: ({ headers }) => (headers.get('authorization') === `Bearer ${TOKEN}` ? { id: 'remote' } : null),
  onError,
})
const { url } = await server.listen({ port: Number(values.port), signals: ['SIGTERM'] })
console.log(JSON.stringify({ port: Number(new URL(url).port) }))
