// The worker of a system whose client is another process: node worker.ts SYSTEM PLACE
import '../child/parent.ts'
import { requireInstalled } from './install.ts'
import { systems } from './systems/index.ts'

const [name, place = ''] = process.argv.slice(2)
const system = systems.find((system) => system.name === name)
if (!system?.work) throw new Error(`${name} has no work`)
await system.work(place, requireInstalled)
console.log('ready')
