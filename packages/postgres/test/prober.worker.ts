import { watches } from '../../server/test/prober.ts'
import { postgres } from '../src/index.ts'

const [options = '', outside = ''] = process.argv.slice(2)
await watches(postgres(JSON.parse(options)), JSON.parse(outside))
