// An agent process that has nothing but the servers' URLs: node remote.ts URL... --ledger FILE [--no-socket]
import { parseArgs } from 'node:util'
import { connectAgents } from 'triarch'
import { agents } from '../../../examples/orders/shop.ts'
import { Ledger } from '../../../packages/triarch/test/crash/ledger.ts'
import { workload } from '../../../packages/triarch/test/crash/workload.ts'
import { settings } from '../settings.ts'
import { steppable } from './clock.ts'
import { complaint } from './complaint.ts'
import { TOKEN } from './token.ts'
import { watched } from './watched.ts'

process.stdin.resume().once('close', () => process.exit())
const truly = steppable(process.stdin)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: { ledger: { type: 'string', default: '' }, socket: { type: 'boolean', default: true } },
})
const ledger = new Ledger(values.ledger, truly)
const connection = connectAgents(positionals, {
  token: TOKEN,
  agents: [...agents.map((own) => watched(own, ledger)), ...workload(ledger).agents],
  webSocket: values.socket,
  grace: settings.grace,
  onError: complaint(ledger, 'remote', truly),
})
process.once('SIGTERM', () => void connection.close().then(() => process.exit()))
// Whether a server is up or not: it is asked again and again.
console.log(JSON.stringify({}))
