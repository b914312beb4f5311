// A process that only runs actions: steps reach it through the work queue.
import './parent.ts'
import { Triarch } from 'triarch'
import { service, storeAt } from '../subject.ts'

const [place = ''] = process.argv.slice(2)
const engine = new Triarch({ store: storeAt(place), agents: [service], roles: ['agent'] })
await engine.start()
console.log('ready')
