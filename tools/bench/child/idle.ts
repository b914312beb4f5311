// A node on a store; says what it holds and what it costs while it has nothing to do.
import './parent.ts'
import { memory } from '../memory.ts'
import { start } from '../subject.ts'
import { sleepers } from './sleepers.ts'

const [path = '', span = '0'] = process.argv.slice(2)
const subject = await start(path, { workflows: [sleepers] })
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
await wait(Number(span) / 2)
const before = { cpu: process.cpuUsage(), at: performance.now() }
await wait(Number(span))
const { user, system } = process.cpuUsage(before.cpu)
const cpu = (user + system) / 1_000 / (performance.now() - before.at)
console.log(JSON.stringify({ ...memory(), cpu }))
await subject.engine.stop()
