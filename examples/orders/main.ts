// A shop's orders, fulfilled through unreliable services while processes die. `npm start -- --help` tells the options.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Triarch } from 'triarch'
import { plan, unleash } from './chaos.ts'
import { ordersAt, storeAt } from './counter.ts'
import { placeOrders } from './customers.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { judge } from './judge.ts'
import { launch } from './launch.ts'
import { type Options, parseOptions, UsageError, usage } from './options.ts'
import { type Progress, progress } from './progress.ts'
import { type Report, summary } from './report.ts'
import { dependsOn } from './shop.ts'
import { describe, listTasks, watchTasks } from './watch.ts'

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (!options) {
    process.stdout.write(usage)
    return 0
  }
  const dir = options.data === undefined ? temporary() : resolve(options.data)
  if (['orders.db', 'postgres'].some((name) => existsSync(join(dir, name))))
    throw new UsageError(`--data ${dir}: there is a run in it already`)
  mkdirSync(dir, { recursive: true })
  const report = await onDatabase(dir, options, (db) => run(dir, db, options))
  console.log(options.json ? JSON.stringify(report, null, 2) : summary(report))
  return report.ok ? 0 : 1
}

/** A directory that is removed when this process ends, also when it is told to. The others end with it: see launch.ts. */
function temporary(): string {
  const dir = mkdtempSync(join(tmpdir(), 'triarch-orders-'))
  process.once('exit', () => rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  return dir
}

/** Tasks and orders live in a file, or in a PostgreSQL that is there for this run. */
async function onDatabase<T>(dir: string, { store }: Options, work: (db: string) => Promise<T>): Promise<T> {
  if (store === 'sqlite') return work(join(dir, 'orders.db'))
  const { ready, kill } = await launch<{ url: string }>('database/main.ts', [dir])
  try {
    return await work(ready.url)
  } finally {
    await kill()
  }
}

async function run(dir: string, db: string, options: Options): Promise<Report> {
  const began = performance.now()
  const screen = progress(process.stdout, options.json)
  const fleet = await startFleet({ dir, db, seed: options.seed })
  screen.note(`${fleet.services.length} services, 1 web process and ${fleet.nodes.length} nodes are up`)
  // Another Triarch that plays no role: it only looks.
  await using triarch = new Triarch({ store: storeAt(db) })
  const { accepted, stuck } = await trade(options, fleet, triarch, screen)
  const verdict = judge({
    orders: await ordersOf(db, accepted),
    tasks: (await listTasks(triarch)).map(({ id, status, result }) => ({ orderId: id, status, result })),
    ledgers: await fleet.ledgers(),
    dependsOn,
  })
  const node = sum(fleet.nodes.map(({ kills }) => kills))
  const service = sum(fleet.services.map(({ kills }) => kills))
  const web = fleet.web.kills
  const unruly = await fleet.stop()
  screen.end()
  return {
    ok: verdict.ok && unruly.length === 0 && stuck.length === 0,
    store: options.store,
    seed: options.seed,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    kills: { node, web, service, total: node + web + service },
    faults: sum(Object.values(verdict.counts.faults)),
    counts: verdict.counts,
    violations: verdict.violations,
    unruly,
    stuck,
    data: options.data === undefined ? null : dir,
  }
}

/** Places the orders, kills processes meanwhile, and waits until all tasks have stopped. */
async function trade(options: Options, fleet: Fleet, triarch: Triarch, screen: Progress) {
  const accepted = new Set<string>()
  let kills = 0
  const chaos = unleash(plan(options), fleet, (unit) => {
    kills++
    screen.note(`killed ${unit.name} after ${accepted.size} orders`)
  })
  let busy = true
  const placing = placeOrders({ url: fleet.url, ...options }, (id) => {
    accepted.add(id)
    chaos.placed(accepted.size)
  }).then(async () => {
    await chaos.done()
    busy = false
  })
  const left = watchTasks(
    triarch,
    () => !busy,
    (active) => screen.show(`${accepted.size} of ${options.orders} orders placed, ${active} under way, ${kills} kills`),
  )
  const [stuck] = await Promise.all([left, placing])
  return { accepted, stuck: await Promise.all(stuck.map((task) => describe(triarch, task))) }
}

/** Every order that the shop has, and every one it has confirmed to a customer: they had better be the same. */
async function ordersOf(db: string, accepted: Set<string>): Promise<{ id: string }[]> {
  return [...new Set([...(await ordersAt(db)), ...accepted])].map((id) => ({ id }))
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${usage}`)
  process.exitCode = 2
}
