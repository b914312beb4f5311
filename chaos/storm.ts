// Carries out the plan: each fault at its moment, and counted once it has really struck.
import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseServer, StopMode } from '../examples/orders/database/server.ts'
import type { Fleet, Member } from './fleet.ts'
import { type Fault, type Group, type Kind, kinds } from './plan.ts'
import type { Statement } from './proxy/exchange.ts'
import type { Eye } from './store.ts'
import type { Span } from './witness.ts'

export interface Struck {
  fired: Record<Kind, number>
  /** How often the answer to which statement was swallowed. */
  swallowed: Record<string, number>
  /** When agents stood still. */
  frozen: Span[]
}

interface Field {
  fleet: Fleet
  database: DatabaseServer
  eye: Eye
  /** Told of each fault that strikes. */
  note: (text: string) => void
}

export function unleash(faults: readonly Fault[], field: Field): Struck & { over: Promise<void> } {
  const struck: Struck = {
    fired: Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>,
    swallowed: {},
    frozen: [],
  }
  const strikes: Promise<void>[] = []
  const go = async () => {
    const began = performance.now()
    for (const fault of faults) {
      await delay(Math.max(0, began + fault.at - performance.now()))
      const strike = persist(fault, field, struck).then((name) => {
        if (name === null) return
        struck.fired[fault.kind]++
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
const TRIES = 20
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
      if (act === 'freeze' && group === 'agent') struck.frozen.push({ from, until: Date.now() })
      return name
    }
    case 'restart':
      return restart(field.database, whom as StopMode, lasts)
    case 'terminate':
      return terminate(field.eye)
    case 'swallow':
      return swallow(whom as Prey, field.fleet, fault, struck)
    default:
      return disturb(pick(field.fleet, fault), fault)
  }
}

function pick({ members }: Fleet, { target }: Fault, group?: Group): Member {
  const fitting = group ? members.filter((member) => member.group === group) : members
  const member = fitting[Math.floor(target * fitting.length)]
  if (!member) throw new Error(`there is nobody to strike among ${group}`)
  return member
}

async function restart(database: DatabaseServer, mode: StopMode, downtime: number): Promise<string> {
  await database.restart(mode, downtime)
  return 'the database'
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

/** Whose commits, and which: the first word or the function of the statement. */
const prey = {
  order: { group: 'web', statement: 'COMMIT' },
  transition: { group: 'scheduler', statement: 'commit' },
  claim: { group: 'scheduler', statement: 'claim' },
  work: { group: 'agent', statement: 'take_work' },
  reply: { group: 'agent', statement: 'reply' },
  any: { group: undefined, statement: undefined },
} as const
type Prey = keyof typeof prey

async function swallow(what: Prey, fleet: Fleet, fault: Fault, struck: Struck): Promise<string | null> {
  const { group, statement: wanted } = prey[what]
  const { proxy, name } = pick(fleet, fault, group)
  const wants = (statement: Statement) => wanted === undefined || nameOf(statement) === wanted
  const statement = await proxy.swallow(AbortSignal.timeout(fault.lasts), wants)
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
async function disturb({ proxy, name }: Member, { kind, lasts, size }: Fault): Promise<string | null> {
  const { links } = proxy
  if (links === 0) return null
  if (kind === 'cut') proxy.cut({ reset: size % 2 === 0 })
  if (kind === 'stall' || kind === 'partition') proxy.stall()
  if (kind === 'delay') proxy.delay(size)
  if (kind === 'refuse') proxy.refuse()
  await delay(lasts)
  // After every other partition nothing arrives late: what was under way is lost with its connections.
  if (kind === 'partition' && size % 2 === 0) proxy.cut()
  if (kind === 'stall' || kind === 'partition') proxy.flow()
  if (kind === 'delay') proxy.delay(0)
  if (kind === 'refuse') proxy.admit()
  return `${name}'s ${links} connections`
}
