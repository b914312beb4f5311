// Looks into what a run has left (npm start -- --keep): how all orders ended, or the life of one.
//   node look.ts DIR [ORDER]
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Triarch } from 'triarch'
import { storeAt } from './counter.ts'
import { launch } from './launch.ts'
import { render, timeline } from './timeline.ts'
import { listTasks } from './watch.ts'
import type { Testimony } from './witness.ts'

const [dir, order] = process.argv.slice(2)
if (dir === undefined || !existsSync(join(dir, 'testimony.json'))) {
  console.error('npm run look -- DIR [ORDER]: DIR is what a run with --keep has left')
  process.exit(2)
}
const testimony = JSON.parse(readFileSync(join(dir, 'testimony.json'), 'utf8')) as Testimony
const server = existsSync(join(dir, 'postgres')) ? await launch<{ url: string }>('database/main.ts', [dir]) : null
try {
  await using triarch = new Triarch({ store: storeAt(server?.ready.url ?? join(dir, 'orders.db')) })
  console.log(order === undefined ? await all(triarch) : await one(triarch, order))
} finally {
  await server?.kill()
}

async function one(triarch: Triarch, order: string): Promise<string> {
  const history = await triarch.tasks.get(order).history()
  return render(order, timeline({ order, history, testimony }))
}

/** How many ended how, and those whose process was killed. */
async function all(triarch: Triarch): Promise<string> {
  const tasks = await listTasks(triarch)
  const outcomes = [...Map.groupBy(tasks, ({ outcome }) => outcome)]
  const killed = new Set(testimony.deaths.flatMap(({ orders }) => orders))
  const rows = tasks.filter(({ id }) => killed.has(id)).map(({ id, outcome }) => `  ${id.padEnd(14)}${outcome}`)
  return [
    `${tasks.length} orders: ${outcomes.map(([outcome, own]) => `${own.length} ${outcome}`).join(', ')}`,
    `${rows.length} were in the hands of a process that was killed:`,
    ...rows,
  ].join('\n')
}
