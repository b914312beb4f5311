// node examples/provisioning/main.ts: hosts, disks and names, planned, run, mended by an operator, and taken back.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { preview, Triarch } from 'triarch'
import { sqlite } from 'triarch/sqlite'
import { Cloud } from './cloud.ts'
import { infrastructure, type Order } from './infrastructure.ts'

const order: Order = {
  domain: 'example.org',
  hosts: [
    { name: 'db', disks: [100, 500] },
    { name: 'web', disks: [20] },
  ],
}

const cloud = new Cloud()
const built = infrastructure(cloud, () => triarch, '20ms')
const { createInfrastructure, agents, workflows } = built

console.log('the plan, before anything runs:')
for (const step of (await preview(createInfrastructure, order)).steps) {
  const after = step.after.length > 0 ? ` after ${step.after.join(', ')}` : ''
  console.log(`  ${step.id} ${[...step.within, step.name].join(' > ')}${after}`)
}

const folder = mkdtempSync(join(tmpdir(), 'provisioning-'))
const triarch = new Triarch({ store: sqlite(join(folder, 'tasks.db')), workflows, agents })
try {
  await triarch.start()
  triarch.on('alert', ({ message }) => console.log(`alert: ${message}`))
  cloud.broken.add('dns').add('monitoring')
  const task = await triarch.submit(createInfrastructure, order, { id: 'site' })
  for await (const { status } of task.watch()) if (status === 'paused') break
  console.log('paused; what does not need DNS is done. Mended and resumed:')
  cloud.broken.delete('dns')
  await task.resume()
  console.log(`  ${JSON.stringify(await task.result())}, ${(await task.status()).outcome}: nobody watches the hosts`)
  console.log(`  inventory: ${[...cloud.inventory].join(', ')}`)
  await task.compensate()
  while ((await task.status()).outcome !== 'compensated') await sleep(20)
  console.log(`taken back: ${cloud.machines.size} machines, ${cloud.names.size} names left`)
} finally {
  await triarch.stop()
  rmSync(folder, { recursive: true })
}
