// Gets `tasks` tasks into their second step, says so, and waits there to be killed.
import './parent.ts'
import { Gate } from '../measure.ts'
import { start } from '../subject.ts'
import { interruptible } from './interruptible.ts'

const [path = '', tasks = '0', lease = '0'] = process.argv.slice(2)
const count = Number(tasks)
const inside = new Gate(count)
const { agent, workflow } = interruptible(() => {
  inside.pass()
  return new Promise(() => undefined)
})
const options = { workflows: [workflow], agents: [agent], lease: Number(lease), limits: { tasks: count + 1 } }
const { engine } = await start(path, options)
await Promise.all(Array.from({ length: count }, () => engine.submit(workflow, { n: 1 })))
await inside.open
console.log('inside')
