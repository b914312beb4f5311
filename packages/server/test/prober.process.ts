import { sqlite } from 'triarch/sqlite'
import { watches } from './prober.ts'

const [file = '', outside = ''] = process.argv.slice(2)
await watches(sqlite(file), JSON.parse(outside))
