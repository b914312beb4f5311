// A process with all roles: node.ts FILE RECEIVER.
import { trace } from '@opentelemetry/api'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { sdk } from './sdk.ts'
import { shop } from './shop.ts'

const [file = '', url = ''] = process.argv.slice(2)
const { otel, provider } = sdk(url)
trace.setGlobalTracerProvider(provider)
const { payments, order } = shop(() => provider.forceFlush())
const triarch = new Triarch({
  ...{ store: sqlite(file), workflows: [order], agents: [payments] },
  ...{ lease: '2s', sweep: '100ms', grace: 0, middleware: [otel.middleware], telemetry: otel.telemetry },
})
await triarch.start()
process.once('SIGTERM', async () => {
  await triarch.stop()
  await provider.forceFlush()
  process.exit(0)
})
console.log('started')
