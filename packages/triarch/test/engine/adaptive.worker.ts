import { Triarch } from '../../src/index.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { adaptive } from './adaptive.ts'

const [path = ''] = process.argv.slice(2)
const triarch = new Triarch({ store: sqlite(path), ...adaptive })
process.on('message', () => void triarch.stop().then(() => process.exit()))
process.once('disconnect', () => process.exit())
await triarch.start()
process.send?.('ready')
