// A shop's orders, fulfilled through unreliable services while processes die. `npm start -- --help` tells the options.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Triarch } from 'triarch'
import { plan, unleash } from './chaos.ts'
import { ordersAt, storeAt } from './counter.ts'
import { placeOrders, type Told } from './customers.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { Illness } from './illness.ts'
import { judge } from './judge.ts'
import { launch } from './launch.ts'
import { type Options, parseOptions, UsageError, usage } from './options.ts'
import { type Progress, progress } from './progress.ts'
import { type Report, summary } from './report.ts'
import { dependsOn } from './shop.ts'
import { mostTelling, timeline } from './timeline.ts'
import { active, describe, listTasks, watchTasks } from './watch.ts'
import { Witness } from './witness.ts'

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (!options) {
    process.stdout.write(usage)
    return 0
  }
  const dir = options.data === undefined ? temporary(options.keep) : resolve(options.data)
  if (['orders.db', 'postgres'].some((name) => existsSync(join(dir, name))))
    throw new UsageError(`--data ${dir}: there is a run in it already`)
  mkdirSync(dir, { recursive: true })
  const report = await onDatabase(dir, options, (db) => run(dir, db, options))
  console.log(options.json ? JSON.stringify(report, null, 2) : summary(report))
  return report.ok ? 0 : 1
}

/**
 * A directory that is removed when this process ends, also when it is told to, unless it is kept. The others end with it: see
 * launch.ts.
 */
function temporary(keep: boolean): string {
  const dir = mkdtempSync(join(tmpdir(), 'triarch-orders-'))
  if (keep) return dir
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
  const fleet = await startFleet({ dir, db, seed: options.seed, agent: options.agent })
  screen.note(
    `${fleet.services.length} services, 1 web process and ${[...fleet.nodes, ...fleet.agents].length} nodes and agents are up`,
  )
  screen.note(`the shop is open at ${fleet.url}: it takes your orders, too, and shows them in a browser`)
  // Another Triarch that plays no role: it only looks.
  await using triarch = new Triarch({ store: storeAt(db) })
  const witness = new Witness(triarch, fleet.processes)
  const payment = fleet.services.find(({ name }) => name === 'payment')
  const illness = new Illness(triarch, () => payment?.current.url ?? '', options)
  const { accepted, told, stuck } = await trade(options, { fleet, triarch, screen, witness, illness })
  const tasks = (await listTasks(triarch)).map(({ id, status, outcome }) => ({ orderId: id, status, outcome }))
  const misled = told.filter(({ id, outcome }) => tasks.find(({ orderId }) => orderId === id)?.outcome !== outcome)
  const ledgers = await fleet.ledgers()
  const verdict = judge({ orders: await ordersOf(db, accepted), tasks, ledgers, dependsOn })
  const recovery = await illness.recovery([...accepted], ledgers)
  if (options.keep) writeFileSync(join(dir, 'testimony.json'), JSON.stringify(witness.testimony))
  const node = sum(fleet.nodes.map(({ kills }) => kills))
  const service = sum(fleet.services.map(({ kills }) => kills))
  const agent = sum(fleet.agents.map(({ kills }) => kills))
  const web = fleet.web.kills
  const unruly = await fleet.stop()
  screen.end()
  return {
    ok: verdict.ok && unruly.length === 0 && stuck.length === 0 && misled.length === 0,
    store: options.store,
    seed: options.seed,
    seconds: Math.round((performance.now() - began) / 100) / 10,
    kills: { node, web, service, agent, total: node + web + service + agent },
    told: Object.fromEntries(
      Map.groupBy(told, ({ way }) => way)
        .entries()
        .map(([way, all]) => [way, all.length]),
    ),
    misled: misled.map(({ id, way, outcome }) => `${id} was told ${outcome} by ${way}`),
    recovery,
    faults: sum(Object.values(verdict.counts.faults)),
    counts: verdict.counts,
    violations: verdict.violations,
    timeline: await lifeOf(triarch, witness),
    unruly,
    stuck,
    data: options.keep ? dir : null,
  }
}

interface Scene {
  fleet: Fleet
  triarch: Triarch
  screen: Progress
  witness: Witness
  illness: Illness
}

/** Places the orders, kills processes meanwhile, and waits until all tasks have stopped. */
async function trade(options: Options, { fleet, triarch, screen, witness, illness }: Scene) {
  const accepted = new Set<string>()
  let kills = 0
  let done = 0
  const chaos = unleash(plan(options), fleet, ({ name }, pid) => {
    kills++
    screen.note(`killed ${name} (${pid}) after ${accepted.size} orders`)
    const seen = witness.died({ name, pid }, () => listTasks(triarch, active))
    seen.catch((error) => screen.note(`nobody could see what was in its hands: ${error.message}`))
  })
  let busy = true
  let told: Told[] = []
  const placing = placeOrders({ url: fleet.url, ...options }, (id) => {
    accepted.add(id)
    chaos.placed(accepted.size)
    illness.placed(accepted.size)
  }).then(async (heard) => {
    told = heard
    await chaos.done()
    busy = false
  })
  const left = watchTasks(
    triarch,
    () => !busy,
    async (tasks) => {
      // An order is accepted a moment after its task is there: what was done stays done.
      done = Math.max(done, accepted.size - tasks.length)
      const line = `${done} of ${options.orders} orders done, ${tasks.length} under way, ${kills} kills`
      screen.show(line, done / options.orders)
      await witness.look(tasks)
    },
  )
  const [stuck] = await Promise.all([left, placing])
  return { accepted, told, stuck: await Promise.all(stuck.map((task) => describe(triarch, task))) }
}

/** The life of one order whose process was killed in the middle. */
async function lifeOf(triarch: Triarch, { testimony }: Witness): Promise<Report['timeline']> {
  const orders = [...new Set(testimony.deaths.flatMap(({ orders }) => orders))].slice(0, 200)
  const lives = await Promise.all(
    orders.map(async (order) => ({ order, history: await triarch.tasks.get(order).history(), testimony })),
  )
  const life = mostTelling(lives)
  return life && { order: life.order, moments: timeline(life) }
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
