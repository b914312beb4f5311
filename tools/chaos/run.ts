// One run: everything is started, measured, hurt, healed, brought to rest, stopped, and judged.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { postgres } from '@triarch/postgres'
import { isTriarchError, Triarch } from 'triarch'
import { orderOf, place } from '../../examples/orders/customers.ts'
import { DatabaseServer } from '../../examples/orders/database/server.ts'
import type { Progress } from '../../examples/orders/progress.ts'
import { fulfilOrder } from '../../examples/orders/shop.ts'
import { Client } from '../../packages/triarch/test/crash/client.ts'
import { dump } from '../../packages/triarch/test/crash/evidence.ts'
import { readLedger } from '../../packages/triarch/test/crash/ledger.ts'
import { Operator } from '../../packages/triarch/test/crash/operator.ts'
import { Random } from '../../packages/triarch/test/crash/random.ts'
import { workload } from '../../packages/triarch/test/crash/workload.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { slownessWhile } from './machine.ts'
import { Neighbours } from './neighbours.ts'
import { type Kind, plan } from './plan.ts'
import type { Report, Spread } from './report.ts'
import { complaintsOf, latencies, type Remains, violations } from './rules.ts'
import { TAKEOVER_LIMIT } from './settings.ts'
import { type Eye, openEye, readEvidence, sessions, writersOf } from './store.ts'
import { type Struck, unleash } from './storm.ts'
import { measureTakeover, type Takeover } from './takeover.ts'
import type { Warden } from './warden.ts'
import { datedByStore, entriesOf, givenAway } from './witness.ts'
import { bystander, echo, keyed, poisonous } from './workflows.ts'

export interface RunOptions {
  dir: string
  seed: number
  /** What strikes. */
  kinds: readonly Kind[]
  /** How long faults go on (ms); 0: none strikes. */
  duration: number
  /** How long all may take to come to rest afterwards (ms). */
  settle: number
  /** How often takeover is measured. */
  takeovers: number
  warden: Warden
  screen: Progress
}

export interface Outcome {
  remains: Remains
  report: Report
}

/** Orders and drills a second, as far as the machine keeps up. */
const PACE = { orders: 12, drills: 5, events: 8, meddling: 3, bystanders: 5, oddities: 2 }
/** Nothing new is asked for while this many tasks are under way: a slow machine would only pile them up. */
const MOST_OPEN = 150

/** Every so many seeds, nodes do without LISTEN/NOTIFY, as behind a transaction pooler. */
const WITHOUT_HINTS = 3
/** Every so many seeds, all steps for other processes go by the queue. */
const WITHOUT_DIRECT = 2

/** Everything a run holds, ended whatever happens. */
interface Scene {
  fleet: Fleet
  database: DatabaseServer
  eye: Eye
  triarch: Triarch
  client: Client
  neighbours: Neighbours
  operator: Operator
  confirmed: Set<string>
}

export async function run(options: RunOptions): Promise<Outcome> {
  const { dir, seed, warden, screen, duration } = options
  const hints = seed % WITHOUT_HINTS !== 0
  const direct = seed % WITHOUT_DIRECT !== 0
  const began = performance.now()
  const ledger = join(dir, 'ledger.jsonl')
  const diary = join(dir, 'poison.jsonl')
  const database = await DatabaseServer.create(dir, {
    told: (pid, alive) => (alive ? warden.watch(pid, 'SIGQUIT') : warden.forget(pid)),
    // For standbys, whose copies take a moment.
    settings: { wal_keep_size: '512MB' },
  })
  const eye = openEye(database.url())
  const { workflows } = workload(null)
  const triarch = new Triarch({
    store: postgres(database.url()),
    workflows: [fulfilOrder, ...Object.values(workflows), bystander, echo, keyed, poisonous(null).workflow],
    roles: [],
  })
  try {
    await triarch.open()
    const writers = await writersOf(eye)
    const fleet = await startFleet({ dir, seed, hints, direct, database, ledger, diary, warden, writers })
    screen.note(`1 database, 4 services, and ${fleet.members.map(({ name }) => name).join(', ')} are up`)
    const client = new Client(triarch, workflows, new Random(seed + 2), (error) => patience(error))
    const drill = (task: { workflow: string }) => task.workflow in workflows
    const operator = new Operator(triarch, new Random(seed + 1), drill, (id) => id.startsWith('poison-'))
    const neighbours = new Neighbours(triarch, database.url(), diary, patience)
    const scene: Scene = { fleet, database, eye, triarch, client, neighbours, operator, confirmed: new Set() }
    const { takeovers, struck, slowness } = await storm(scene, options)
    const restless = performance.now()
    const rested = await rest(scene, options)
    const converged = rested ? Math.round((performance.now() - restless) / 100) / 10 : null
    const stuck = rested ? '' : await describe(scene, ledger)
    const remains = await end(scene, { dir, ledger, direct, struck, takeovers, slowness })
    const found = violations(remains)
    return {
      remains,
      report: {
        ok: found.length === 0 && stuck === '',
        seed,
        hints,
        storm: duration / 1000,
        seconds: Math.round((performance.now() - began) / 100) / 10,
        orders: remains.orders.kept.length,
        results: tally(remains.store.tasks.map(({ row }) => row.result)),
        records: remains.store.tasks.reduce((sum, { records }) => sum + records.length, 0),
        faults: struck.fired,
        swallowed: struck.swallowed,
        lost: {
          failovers: struck.tails.length,
          tasks: struck.tails.reduce((sum, { touched }) => sum + touched.length, 0),
          wholly: struck.tails.reduce((sum, { vanished }) => sum + vanished.length, 0),
          said: remains.said,
        },
        remote: remains.remote,
        direct: remains.direct,
        takeovers,
        bystanders: spread(latencies(remains).map(({ ms }) => ms)),
        stops: spread(remains.stops.toSorted((a, b) => a - b)),
        slowness,
        takeoverLimit: TAKEOVER_LIMIT,
        converged,
        databaseErrors: tally(complaintsOf(remains.log).map(({ state }) => state)),
        engineErrors: tally(remains.store.ledger.flatMap(({ kind, key }) => (kind === 'error' ? [key] : []))),
        violations: found,
        stuck,
        data: null,
      },
    }
  } finally {
    await Promise.allSettled([triarch.stop(), eye.close()])
    await database.stop('immediate')
  }
}

/** Orders, drills and meddling side by side: at first in peace while takeover is measured, then while the faults strike. */
async function storm(scene: Scene, { seed, kinds, duration, takeovers, screen }: RunOptions) {
  const { fleet, database, eye, client, neighbours, operator, confirmed } = scene
  const began = performance.now()
  let busy = true
  let orders = 0
  const customers: Promise<void>[] = []
  const again = async (random: Random, rate: number, act: () => unknown) => {
    while (busy) {
      await act()
      await delay(random.below(2_000 / rate))
    }
  }
  const order = () => {
    const next = orderOf(++orders, seed)
    customers.push(place(fleet.url, next).then(() => void confirmed.add(next.id)))
  }
  const oddities = new Random(seed + 11)
  const forgiving = (work: () => Promise<void>) => () => work().catch(forgive)
  let faults = 0
  let open = 0
  const look = async () => {
    const counted = await eye.rows<{ n: number }>("SELECT count(*) AS n FROM triarch.tasks WHERE status <> 'stopped'")
    open = counted[0]?.n ?? open
    screen.show(`${confirmed.size} orders, ${client.accepted.length} drills, ${open} under way, ${faults} faults`)
  }
  const room = () => open < MOST_OPEN
  const work = Promise.all([
    again(new Random(seed + 3), PACE.orders, () => room() && order()),
    again(new Random(seed + 5), PACE.drills, () => room() && client.submit()),
    again(new Random(seed + 6), PACE.events, () => client.emit()),
    again(new Random(seed + 9), PACE.bystanders, () => neighbours.pass()),
    again(new Random(seed + 10), PACE.oddities, () => room() && neighbours.provoke(oddities)),
    ...(duration > 0
      ? [
          again(
            new Random(seed + 7),
            PACE.meddling,
            forgiving(() => operator.meddle()),
          ),
        ]
      : []),
    again(
      new Random(seed + 8),
      PACE.meddling,
      forgiving(() => operator.decide()),
    ),
    again(new Random(0), 4, () => look().catch(() => undefined)), // the database may be away
  ])
  work.catch(() => undefined) // heard of below
  const slow = slownessWhile(() => busy)
  const measured: Takeover[] = []
  for (let round = 0; round < takeovers; round++) {
    await delay(1_000)
    measured.push(await measureTakeover(fleet, eye, round))
  }
  const note = (text: string) => {
    faults++
    screen.note(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`)
  }
  const { over, ...struck } = unleash(duration > 0 ? plan({ seed, duration, kinds }) : [], {
    fleet,
    database,
    eye,
    neighbours,
    note,
    lost({ touched, vanished }) {
      client.resend(touched, vanished)
    },
  })
  await Promise.race([over, work.then(() => over)])
  if (duration === 0) await delay(2_000)
  busy = false
  fleet.heal()
  await Promise.all([work, ...fleet.members.map(({ unit }) => unit.settled())])
  await Promise.all(customers)
  while (client.waiting) await client.emit()
  return { takeovers: measured, struck: struck as Struck, slowness: await slow }
}

/** False: not everything came to rest in time. */
async function rest({ triarch, operator }: Scene, { settle, screen }: RunOptions): Promise<boolean> {
  for (const end = performance.now() + settle; performance.now() < end; await delay(50)) {
    await operator.decide()
    const { ready, work, inbox } = await triarch.statistics.get()
    const { tasks } = await triarch.tasks.list({
      status: ['pending', 'scheduled', 'running', 'paused', 'compensating'],
      limit: 1_000,
    })
    screen.show(`${tasks.length} tasks under way, ${work} requests, ${inbox} letters`)
    if (tasks.length + ready + work + inbox === 0) return true
  }
  return false
}

async function describe({ eye, client }: Scene, ledger: string): Promise<string> {
  const evidence = await readEvidence(eye, readLedger(ledger), client)
  return `${dump(evidence)}\n${JSON.stringify(await sessions(eye), null, 1)}`
}

/** How nodes tell that the store has lost something. */
const LOST = /: the store lost /g

/** Stops everything and gathers what is left. */
async function end(
  { fleet, eye, client, neighbours, operator, confirmed, database }: Scene,
  {
    dir,
    ledger,
    direct,
    struck,
    ...measured
  }: { dir: string; ledger: string; direct: boolean; struck: Struck; takeovers: Takeover[]; slowness: number },
): Promise<Remains> {
  const ledgers = await fleet.ledgers()
  await fleet.stop()
  const logs = join(dir, 'logs')
  const said = readdirSync(logs).flatMap((name) => readFileSync(join(logs, name), 'utf8').match(LOST) ?? [])
  const own = readLedger(ledger)
  const seen = [...own, ...entriesOf(ledgers, struck.frozen)]
  const entries = datedByStore(seen, struck.steps)
  const { accepted, emitted, doubtful } = client
  const kept = await eye.rows<{ id: string }>('SELECT id FROM orders')
  const store = await readEvidence(eye, entries, { accepted: [...accepted, ...neighbours.accepted], emitted, doubtful })
  const nodes = own.filter(({ pid }) => !fleet.remotes.has(pid))
  return {
    store,
    ledgers,
    orders: { kept: kept.map(({ id }) => id), confirmed: [...confirmed] },
    fired: struck.fired,
    steps: struck.steps,
    tails: struck.tails,
    said: said.length,
    oddities: neighbours.oddities,
    murders: neighbours.murders(),
    remote: own.filter(({ kind, pid }) => kind === 'call' && fleet.remotes.has(pid)).length,
    direct: direct ? givenAway(store.tasks, nodes) : null,
    ...measured,
    deaths: fleet.members.flatMap(({ name, unit }) =>
      unit.deaths.map((death) => ({ ...death, text: `${name}: ${death.text}` })),
    ),
    stops: fleet.members.flatMap(({ unit }) => unit.stops),
    astonished: operator.astonished,
    log: database.said(),
  }
}

/** The database is away now and then: its clients wait a moment, and ask again. */
async function patience(error: unknown): Promise<boolean> {
  forgive(error)
  await delay(50)
  return true
}

const passing: readonly string[] = ['STORE_BUSY', 'STORE_UNAVAILABLE', 'STORE_UNANSWERED', 'STORE_READ_ONLY']

function forgive(error: unknown): void {
  if (!isTriarchError(error) || !passing.includes(error.code)) throw error
}

/** Of numbers in order. */
function spread(sorted: readonly number[]): Spread {
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return { count: sorted.length, half: at(0.5), most: at(0.99), longest: at(1) }
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of [...names].sort()) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
