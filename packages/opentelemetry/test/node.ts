// A process of the engine: node.ts ROLE FILE RECEIVER SERVICE. A scheduler serves, and says where; an agent says that it has started.
import { createServer } from '@triarch/server'
import { Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { global, sdk } from './sdk.ts'
import { shop } from './shop.ts'

const [role = '', file = '', receiver = '', service = ''] = process.argv.slice(2)
const { otel, provider } = global(sdk(receiver))
const { agents, order } = shop(service)
const triarch = new Triarch({
  ...{
    store: sqlite(file),
    workflows: [order],
    agents,
    roles: role === 'agent' ? ['agent'] : ['scheduler', 'supervisor'],
  },
  ...{ lease: '2s', sweep: '100ms', poll: '100ms', grace: 0, middleware: [otel.middleware], telemetry: otel.telemetry },
})
await triarch.start()
process.once('SIGTERM', async () => {
  await triarch.stop()
  await provider.forceFlush()
  process.exit(0)
})
const { url } =
  role === 'agent' ? { url: role } : await createServer(triarch, { workflows: [order] }).listen({ port: 0 })
console.log(url)
