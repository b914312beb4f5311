import { Triarch } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { kinds, open, pace } from './demand.ts'

const [path = '', kind = ''] = process.argv.slice(2)
const triarch = new Triarch({ store: sqlite(path), ...pace, ...kinds[kind] })
process.on('message', (said) => {
  if (said === 'go') open()
  else void triarch.stop().then(() => process.exit())
})
process.once('disconnect', () => process.exit())
await triarch.start()
process.send?.('ready')
