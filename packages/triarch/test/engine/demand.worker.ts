import { Triarch } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { gated, pace } from './demand.ts'

const triarch = new Triarch({ store: sqlite(process.argv[2] ?? ''), ...pace, roles: ['agent'], agents: [gated.agent] })
process.on('message', (said) => {
  if (said === 'go') gated.open()
  else void triarch.stop().then(() => process.exit())
})
process.once('disconnect', () => process.exit())
await triarch.start()
process.send?.('ready')
