// A process that only runs actions: steps reach it through the work queue.
import './parent.ts'
import { postgres } from '@triarch/postgres'
import { Triarch } from 'triarch'
import { service } from '../subject.ts'

const [url = ''] = process.argv.slice(2)
const engine = new Triarch({ store: postgres(url), agents: [service], roles: ['agent'] })
await engine.start()
console.log('ready')
process.on('message', () => undefined)
process.stdin.on('data', () => {
  const { user, system } = process.cpuUsage()
  console.log(JSON.stringify({ cpu: (user + system) / 1_000 }))
})
