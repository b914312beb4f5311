// Takes one workload of one system in a process of its own, on an empty store: node run.ts SYSTEM WORKLOAD FOLDER POSTGRES TIMES
import { mkdirSync, rmSync } from 'node:fs'
import '../child/parent.ts'
import { Child } from '../child/process.ts'
import { watchOthers } from '../others.ts'
import { newDatabase, ServerWatch } from '../postgres/server.ts'
import { requireInstalled } from './install.ts'
import type { Taken } from './rounds.ts'
import type { Ground } from './system.ts'
import { systems } from './systems/index.ts'
import { type Times, workloads } from './workload.ts'

const [name, work, root, url = '', given = '{}'] = process.argv.slice(2)
const system = systems.find((system) => system.name === name)
const workload = workloads.find((workload) => workload.name === work)
if (!system || !workload) throw new Error(`there is no ${name} or no ${work}`)
// Its servers end with this process.
process.once('SIGTERM', () => process.exit(1))
const folder = `${root}/peers`
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
const watch = await new ServerWatch(url).open()
const worker = async (place: string) => {
  await new Child('../peers/worker.ts', [system.name, place]).line()
}
const ground: Ground = { folder, database: () => newDatabase(url, 'peers'), require: requireInstalled, worker }
const nothing = () => Promise.reject(new Error('there is nothing else across'))
const client = workload.across ? await system.across?.(ground) : await system.start(ground)
if (!client) throw new Error(`${system.name} tells nobody elsewhere what became of a job`)
const others = await watchOthers({ look: () => watch.look() })
const figures = await workload.take({ workflow: nothing, wide: nothing, ...client }, JSON.parse(given) as Times)
const taken: Taken = { figures, others: await others() }
process.stdout.write(JSON.stringify(taken), () => process.exit(0))
