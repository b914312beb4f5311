// The four services of the shop in one process, with faults of their own: node services.ts --data DIR --seed S
import { parseArgs } from 'node:util'
import { rough } from '../../../examples/orders/services/faults.ts'
import { mail } from '../../../examples/orders/services/mail.ts'
import { payment } from '../../../examples/orders/services/payment.ts'
import { serve } from '../../../examples/orders/services/server.ts'
import { shipping } from '../../../examples/orders/services/shipping.ts'
import { stock } from '../../../examples/orders/services/stock.ts'

process.stdin.resume().once('close', () => process.exit())

const { values } = parseArgs({
  options: { data: { type: 'string', default: 'data' }, seed: { type: 'string', default: '1' } },
})
const options = { dir: values.data, seed: Number(values.seed), profile: rough, survives: 'process' as const }
const urls: Record<string, string> = {}
for (const service of [payment, stock, shipping, mail]) urls[service.name] = (await serve(service, options)).url
console.log(JSON.stringify({ urls }))
