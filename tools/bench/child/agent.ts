// A process that only runs actions: steps reach it through the work queue, or by its connection with the scheduler.
import './parent.ts'
import { Triarch } from 'triarch'
import { bounded } from '../policed.ts'
import { service, storeAt } from '../subject.ts'

const [place = '', kind = ''] = process.argv.slice(2)
const engine = new Triarch({
  store: storeAt(place),
  agents: [kind === 'policed' ? bounded.agent : service],
  roles: ['agent'],
  direct: kind === 'direct',
})
await engine.start()
console.log('ready')
