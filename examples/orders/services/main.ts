// One service in a process of its own:
//   node services/main.ts payment --port 0 --data DIR --seed 7 --faults on
import { parseArgs } from 'node:util'
import { calm, rough } from './faults.ts'
import { mail } from './mail.ts'
import { payment } from './payment.ts'
import { serve } from './server.ts'
import { shipping } from './shipping.ts'
import { stock } from './stock.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string', default: '0' },
    data: { type: 'string', default: 'data' },
    seed: { type: 'string', default: '1' },
    faults: { type: 'string', default: 'on' },
  },
})
const service = [payment, stock, shipping, mail].find(({ name }) => name === positionals[0])
if (!service) throw new Error('name a service: payment, stock, shipping or mail')

const { port } = await serve(service, {
  dir: values.data,
  port: Number(values.port),
  seed: Number(values.seed),
  profile: values.faults === 'off' ? calm : rough,
})
console.log(JSON.stringify({ service: service.name, port }))

// Standard input is a pipe from the parent; it ends when the parent does, even by SIGKILL, so no service outlives its shop.
// Leaving at once is safe: the ledger is durable after every request.
process.stdin.resume().once('close', () => process.exit())
process.once('disconnect', () => process.exit())
