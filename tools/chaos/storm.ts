// Carries out the plan: each fault at its moment, and counted once it has really struck.
import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseServer, StopMode } from '../../examples/orders/database/server.ts'
import type { Fleet, Member } from './fleet.ts'
import type { Neighbours } from './neighbours.ts'
import type { Fault, Group, Kind } from './plan.ts'
import type { Statement } from './proxy/exchange.ts'
import { failover, type LostTail } from './standby.ts'
import type { Eye } from './store.ts'
import type { Span, Step } from './witness.ts'
import type { Poison } from './workflows.ts'

export interface Struck {
  fired: Partial<Record<Kind, number>>
  /** How often the answer to which statement was swallowed. */
  swallowed: Record<string, number>
  /** When agents stood still. */
  frozen: Span[]
  /** When the store's clock was set forward. */
  steps: Step[]
  /** What failovers lost. */
  tails: LostTail[]
}

interface Field {
  fleet: Fleet
  database: DatabaseServer
  eye: Eye
  neighbours: Neighbours
  /** Told of what a failover lost: those who had it acknowledged may want to send it again. */
  lost: (tail: LostTail) => void
  /** Told of each fault that strikes. */
  note: (text: string) => void
}

export function unleash(faults: readonly Fault[], field: Field): Struck & { over: Promise<void> } {
  const struck: Struck = {
    fired: Object.fromEntries(faults.map(({ kind }) => [kind, 0])),
    swallowed: {},
    frozen: [],
    steps: [],
    tails: [],
  }
  const strikes: Promise<void>[] = []
  const go = async () => {
    const began = performance.now()
    for (const fault of faults) {
      await delay(Math.max(0, began + fault.at - performance.now()))
      const strike = persist(fault, field, struck).then((name) => {
        if (name === null) return
        struck.fired[fault.kind] = (struck.fired[fault.kind] ?? 0) + 1
        field.note(`${fault.kind}: ${name}`)
      })
      strike.catch(() => undefined) // heard of below
      strikes.push(strike)
    }
    await Promise.all(strikes)
  }
  return { ...struck, over: go() }
}

/** How often, and how long apart (ms), a fault is tried that found nothing to strike: a process without connections, say. */
const TRIES = 120
const TRY_GAP = 250

async function persist(fault: Fault, field: Field, struck: Struck): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    const name = await hit(fault, field, struck)
    if (name !== null || !fault.first || tries === TRIES) return name
    await delay(TRY_GAP)
  }
}

/** Resolves when the fault is over, with what it struck; null: with nothing to strike. */
async function hit(fault: Fault, field: Field, struck: Struck): Promise<string | null> {
  const { kind, lasts } = fault
  const [act = '', whom = ''] = kind.split(' ')
  switch (act) {
    case 'kill':
    case 'drain':
    case 'freeze': {
      const { unit, group, name } = pick(field.fleet, fault, whom as Group)
      // What is down already, or still: it is not worth waiting for, or the storm would never end.
      if (unit.busy && !fault.first) return null
      const from = Date.now()
      await unit[act](lasts)
      if (act === 'freeze' && (group === 'agent' || group === 'remote')) struck.frozen.push({ from, until: Date.now() })
      return name
    }
    case 'hold':
      return field.neighbours.hold(lasts, fault.size % 2 === 0)
    case 'backup':
      return field.neighbours.backup(lasts)
    case 'failover':
      return failOver(field, fault, struck)
    case 'deploy':
      return deploy(field.fleet)
    case 'step':
      if (whom === 'database') return step(field.eye, fault, struck)
      return misset(pick(field.fleet, fault, whom as Group), fault)
    case 'poison':
      return field.neighbours.poison(whom as Poison, fault.first)
    case 'restart':
      return restart(field.database, whom as StopMode, lasts)
    case 'terminate':
      return terminate(field.eye)
    case 'swallow':
      return swallow(whom as Prey, field.fleet, fault, struck)
    default:
      return disturb(pick(field.fleet, fault, whom === '' ? undefined : (whom as Group)), fault, act)
  }
}

function pick({ members }: Pick<Fleet, 'members'>, { target }: Fault, group?: Group): Member {
  const fitting = group ? members.filter((member) => member.group === group) : members
  const member = fitting[Math.floor(target * fitting.length)]
  if (!member) throw new Error(`there is nobody to strike among ${group}`)
  return member
}

/** Each process is followed by another of its name, one after the other, as when a new version is rolled out. */
async function deploy({ members }: Fleet): Promise<string> {
  const nodes = members.filter(({ group }) => group !== 'web')
  for (const { unit } of nodes) await unit.drain(50)
  return `${nodes.length} processes`
}

/** A process's clock is an hour wrong, ahead or behind, and then right again. */
async function misset({ unit, name }: Member, { size, lasts }: Fault): Promise<string | null> {
  if (unit.busy) return null
  const { stdin } = unit.current.child
  const hour = size % 2 === 0 ? 3_600_000 : -3_600_000
  // It may be struck by something else meanwhile, and end.
  stdin?.once('error', () => undefined)
  stdin?.write(`clock ${hour}\n`)
  await delay(lasts)
  if (stdin?.writable) stdin.write('clock 0\n')
  return `${name} by ${hour} ms`
}

/** The store's clock is set forward for good, by more than a lease. */
async function step(eye: Eye, { size }: Fault, { steps }: Struck): Promise<string | null> {
  const by = 5_000 + 100 * size
  const sum = by + steps.reduce((ms, one) => ms + one.by, 0)
  const from = Date.now()
  const done = await eye.rows(clockAhead(sum)).catch(() => null)
  if (!done) return null
  steps.push({ from, until: Date.now(), by })
  return `the database by ${by} ms`
}

function clockAhead(by: number): string {
  return `CREATE OR REPLACE FUNCTION triarch.clock(given bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT coalesce(given, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + ${by})'`
}

async function restart(database: DatabaseServer, mode: StopMode, downtime: number): Promise<string> {
  await database.restart(mode, downtime)
  return 'the database'
}

/** Each makes a part of the evidence void. */
const MOST_FAILOVERS = 3

/** A database dies, and a standby that lagged behind takes its place. */
async function failOver({ database, lost }: Field, { size, first }: Fault, struck: Struck): Promise<string | null> {
  if (struck.tails.length >= MOST_FAILOVERS && !first) return null
  const tail = await failover(database, {
    lag: 300 + 4 * size,
    // The clock is the machine's.
    prepare: (client) => client.query(clockAhead(struck.steps.reduce((ms, { by }) => ms + by, 0))),
  })
  if (!tail) return null
  struck.tails.push(tail)
  lost(tail)
  return `what ${tail.touched.length} tasks had is lost, ${tail.vanished.length} of them wholly`
}

async function terminate(eye: Eye): Promise<string | null> {
  const ended = await eye
    .rows<{ pid: number }>(
      // Materialised, or the function might meet the server's own processes before the other conditions rule them out.
      `WITH sessions AS MATERIALIZED (SELECT pid FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND application_name <> 'chaos')
       SELECT pid FROM sessions WHERE pg_terminate_backend(pid)`,
    )
    .catch(() => [])
  return ended.length === 0 ? null : `${ended.length} sessions`
}

/** Whose commits, and which: the beginning of the statement, or of its function's name (`commit_one`). */
const prey = {
  order: { group: 'web', statement: 'COMMIT' },
  transition: { group: 'scheduler', statement: 'commit' },
  claim: { group: 'scheduler', statement: 'take_tasks' },
  work: { group: 'agent', statement: 'take_work' },
  reply: { group: 'agent', statement: 'reply' },
  any: { group: undefined, statement: undefined },
} as const
type Prey = keyof typeof prey

async function swallow(what: Prey, fleet: Fleet, fault: Fault, struck: Struck): Promise<string | null> {
  const { group, statement: wanted } = prey[what]
  // Remote agents have no database.
  const members = fleet.members.filter((member) => member.group !== 'remote')
  const { proxies, name } = pick({ members }, fault, group)
  const wants = (statement: Statement) => wanted === undefined || nameOf(statement).startsWith(wanted)
  const statement = await proxies[0]?.swallow(AbortSignal.timeout(fault.lasts), wants)
  if (!statement) return null
  const caught = nameOf(statement)
  struck.swallowed[caught] = (struck.swallowed[caught] ?? 0) + 1
  return `${name}'s ${caught}`
}

/** A prepared statement's name, or the function it calls, or its first words. */
function nameOf({ name, sql }: Statement): string {
  const [, called] = /\btriarch"?\.(\w+)\s*\(/i.exec(sql) ?? []
  return called ?? (name || sql.trim().split(/\s+/).slice(0, 2).join(' ').toUpperCase())
}

/** What happens to one process's connections. */
async function disturb({ proxies, name }: Member, { lasts, size }: Fault, act: string): Promise<string | null> {
  const links = proxies.reduce((sum, proxy) => sum + proxy.links, 0)
  if (links === 0) return null
  const silencing = act === 'stall' || act === 'partition' || act === 'deafen' || act === 'mute'
  const sides = { deafen: 'server', mute: 'client' } as const
  for (const proxy of proxies) {
    if (act === 'cut') proxy.cut({ reset: size % 2 === 0 })
    if (silencing) proxy.stall(sides[act as keyof typeof sides])
    if (act === 'delay') proxy.delay(size)
    if (act === 'refuse') proxy.refuse()
  }
  await delay(lasts)
  for (const proxy of proxies) {
    // After every other one nothing arrives late: what was under way is lost with its connections.
    if (silencing && act !== 'stall' && size % 2 === 0) proxy.cut()
    if (silencing) proxy.flow()
    if (act === 'delay') proxy.delay(0)
    if (act === 'refuse') proxy.admit()
  }
  return `${name}'s ${links} connections`
}
