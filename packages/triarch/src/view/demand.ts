import type { Agent } from '../definition/definition.ts'
import { TriarchError } from '../error/error.ts'
import { type PoolLoad, wanted, wantedBusy, wantedParted } from '../policy/demand.ts'
import { refsOf } from '../store/breaker.ts'
import { storedBreaker } from '../store/circuit.ts'
import { type BacklogRow, MOST_BACKLOGS } from '../store/gate.ts'
import type { BreakerRow, NodeRow, NodeShare, PermitRow, StateStore } from '../store/port.ts'
import { storedRate } from '../store/rate.ts'
import { MOST_COUNTED } from '../store/rows.ts'
import { type Duration, milliseconds } from '../value/duration.ts'
import { checkOptions } from '../value/options.ts'
import { type AgentInfo, agentPage } from './inventory.ts'

/**
 * The longest acceptable wait.
 * @example const { agents } = await triarch.nodes.demand({ within: '5s' })
 */
export interface DemandOptions {
  /** Work should not wait longer than this: '100ms' to '1d'; '30s'. */
  within?: Duration
}

/**
 * How many processes are recommended for the waiting and running work.
 * @example
 * const { agents, schedulers } = await triarch.nodes.demand()
 * const most = Math.max(0, ...[...agents, ...schedulers].map(({ wanted }) => wanted.processes))
 */
export interface Demand {
  /** By name: agents of living nodes, agents that the answering process knows, and agents with waiting requests. */
  agents: AgentDemand[]
  /** By workflow and version: those of living nodes, and those with a ready task. */
  schedulers: SchedulerDemand[]
  /** The lists are cut: there are more than 1,000 agents or versions of workflows. */
  truncated?: true
}

/**
 * Slots, and the processes that have them.
 * @example const none: Capacity = { slots: 0, processes: 0 }
 */
export interface Capacity {
  /** Largest number that may run at a time. */
  slots: number
  /** Number of processes with such slots. */
  processes: number
}

/**
 * The demand of one kind of work.
 * @example const grows = ({ has, wanted }: WorkDemand) => wanted.processes > has.processes
 */
export interface WorkDemand {
  /** Number that waits and has not been taken, counted up to 10,000 for each queue. */
  waiting: number
  /** The number is a lower bound. */
  truncated?: true
  /** Since when the oldest has waited; absent if nothing waits, or it is unknown. */
  since?: Date
  /** Number that runs, by the latest reports of the living nodes, which report once in a third of their lease. */
  running: number
  /** The capacity of the living nodes. */
  has: Capacity
  /** The recommended capacity. */
  wanted: Capacity
}

/**
 * The demand of one agent.
 * @example const sick = (await triarch.nodes.demand()).agents.filter(({ held }) => held?.by === 'breaker')
 */
export interface AgentDemand extends WorkDemand {
  /** The name of the agent. */
  agent: string
  /**
   * More processes would not help the waiting requests: the circuit breaker lets nothing through, the rate limit is used up, or the
   * concurrency limit over all nodes, or the one adapted to the service, is reached (`concurrency`). Absent if none of this applies, or
   * nothing waits.
   */
  held?: { by: 'breaker' | 'rate' | 'concurrency'; until?: Date }
}

/**
 * The demand of one version of a workflow, for the group of nodes that run it.
 * @example
 * const { schedulers } = await triarch.nodes.demand()
 * const idle = schedulers.filter(({ waiting, running }) => waiting + running === 0)
 */
export interface SchedulerDemand extends WorkDemand {
  /** The name of the workflow. */
  workflow: string
  /** The version of the workflow. */
  version: string
}

const PAGE = 100
const MOST_AGENTS = 1_000
const LEAST_WITHIN = 100
const MOST_WITHIN = 86_400_000

/** The longest acceptable wait in ms. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function demandTerms(options: DemandOptions): number {
  checkOptions('nodes.demand', options, ['within'])
  const within = milliseconds(options.within ?? '30s', 'nodes.demand: within')
  if (within < LEAST_WITHIN || within > MOST_WITHIN)
    throw new TriarchError('INVALID_OPTION', 'nodes.demand: within must be from 100 ms to 1 day')
  return within
}

/** Computes the demand. `nodes`: the living ones. */
export async function demandOf(
  store: StateStore,
  known: readonly Agent[],
  nodes: readonly NodeRow[],
  within: number,
): Promise<Demand> {
  const [now, backlogs, { agents, more }] = await Promise.all([
    store.now(),
    store.backlogs(),
    agentsOf(store, known, nodes),
  ])
  const waiting = agents.filter(({ queue }) => queue.depth > 0).map(({ name }) => name)
  const refs = [...refsOf('breaker', waiting), ...refsOf('rate', waiting)]
  const [rows, seats] =
    waiting.length === 0 ? [[], []] : await Promise.all([store.breakers({ refs, count: 0 }), store.permits(waiting)])
  const holds = new QueueLimits(rows, seats, now)
  return {
    agents: agents.map((agent) => agentDemand(agent, nodes, holds, { now, within })),
    schedulers: schedulerDemands(backlogs, nodes, { now, within }),
    ...((more || backlogs.length >= MOST_BACKLOGS) && { truncated: true }),
  }
}

async function agentsOf(
  store: StateStore,
  known: readonly Agent[],
  nodes: readonly NodeRow[],
): Promise<{ agents: AgentInfo[]; more: boolean }> {
  const agents: AgentInfo[] = []
  for (let after = ''; ; ) {
    const { agents: page, next } = await agentPage(store, known, nodes, { after, limit: PAGE })
    agents.push(...page)
    if (next === undefined || agents.length >= MOST_AGENTS) return { agents, more: next !== undefined }
    after = next
  }
}

interface Moment {
  now: number
  within: number
}

/** Limits that keep requests of agents from being taken, whichever node takes them. */
class QueueLimits {
  readonly #breakers: ReadonlyMap<string, string | null>
  readonly #rates: ReadonlyMap<string, string | null>
  readonly #seats: ReadonlyMap<string, PermitRow>
  readonly #now: number

  constructor(rows: readonly BreakerRow[], seats: readonly PermitRow[], now: number) {
    this.#breakers = new Map(rows.flatMap((row) => (row.kind === 'breaker' ? [[row.name, row.state]] : [])))
    this.#rates = new Map(rows.flatMap((row) => (row.kind === 'rate' ? [[row.name, row.state]] : [])))
    this.#seats = new Map(seats.map((row) => [row.name, row]))
    this.#now = now
  }

  of(agent: string): AgentDemand['held'] {
    const state = this.#breakers.get(agent)
    const breaker = state ? storedBreaker(state) : null
    if (breaker && !breaker.keyed && breaker.state.phase !== 'closed') {
      const { phase, until } = breaker.state
      return { by: 'breaker', ...(phase === 'open' && until !== null && { until: new Date(until) }) }
    }
    const rate = storedRate(this.#rates.get(agent) ?? null)
    const until = rate ? Math.ceil(Math.max(rate.state.next, rate.state.rests)) : 0
    if (until > this.#now) return { by: 'rate', until: new Date(until) }
    const seat = this.#seats.get(agent)
    return seat && seat.taken >= seat.most ? { by: 'concurrency' } : undefined
  }

  most(agent: string): number | null {
    return this.#seats.get(agent)?.most ?? null
  }
}

function agentDemand(
  { name: agent, nodes: hosts, queue }: AgentInfo,
  nodes: readonly NodeRow[],
  holds: QueueLimits,
  { now, within }: Moment,
): AgentDemand {
  const shares: NodeShare[] = hosts.map(({ id, slots = 1 }) => {
    // A node that does not report its load counts as busy, so that its silence does not lower the demand.
    const said = nodes.find((node) => node.id === id)?.runs?.load?.agents[agent]
    return said ?? { running: slots, most: slots }
  })
  const { running, ...has } = added(shares)
  const parted = partedOf(shares)
  const held = queue.depth > 0 ? (holds.of(agent) ?? throttledIn(shares)) : undefined
  const since = queue.oldest?.since
  const load = {
    ...{ waiting: queue.depth, age: since ? Math.max(0, now - since.getTime()) : 0, running },
    each: has.processes > 0 ? has.slots / has.processes : null,
    most: held ? running : holds.most(agent),
  }
  return {
    ...{ agent, waiting: queue.depth },
    ...(queue.truncated && { truncated: true as const }),
    ...(since && { since }),
    ...{ running, has, wanted: parted ? wantedParted(load, parted, within) : wanted(load, within) },
    ...(held && { held }),
  }
}

/** The load of each pool; null: slots are not divided into pools, or a process of another version does not report it. */
function partedOf(shares: readonly NodeShare[]): { pools: PoolLoad[]; processes: number } | null {
  const said = shares.flatMap(({ pools }) => (pools ? [pools] : []))
  if (said.length === 0 || said.length < shares.length) return null
  const pools = (['high', 'rest'] as const).map((name) => {
    const { running, slots: most } = added(said.map((one) => one[name]))
    return { running, most }
  })
  return { pools, processes: said.length }
}

/** If all processes are throttled by adaptive concurrency, another process would only add load. */
function throttledIn(shares: readonly NodeShare[]): AgentDemand['held'] {
  const all = shares.length > 0 && shares.every(({ throttled }) => throttled)
  return all ? { by: 'concurrency' } : undefined
}

function schedulerDemands(
  backlogs: readonly BacklogRow[],
  nodes: readonly NodeRow[],
  { now, within }: Moment,
): SchedulerDemand[] {
  const groups = new Map<string, NodeRow[]>(backlogs.map(({ workflow, version }) => [`${workflow}@${version}`, []]))
  for (const node of nodes)
    for (const key of node.runs?.workflows ?? []) {
      const group = groups.get(key)
      if (group) group.push(node)
      else if (groups.size < MOST_BACKLOGS) groups.set(key, [node])
    }
  const lines = new Map(backlogs.map((row) => [`${row.workflow}@${row.version}`, row]))
  return [...groups.keys()].sort().map((key) => {
    const at = key.lastIndexOf('@')
    const { depth, since } = lines.get(key) ?? { depth: 0, since: now }
    const { running, ...has } = added(
      (groups.get(key) ?? []).map((node) => node.runs?.load?.tasks ?? { running: 1, most: 1 }),
    )
    const each = has.processes > 0 ? has.slots / has.processes : null
    const load = { waiting: depth, age: Math.max(0, now - since), running, each, most: null, processes: has.processes }
    return {
      ...{ workflow: key.slice(0, at), version: key.slice(at + 1), waiting: depth },
      ...(depth >= MOST_COUNTED && { truncated: true as const }),
      ...(depth > 0 && { since: new Date(since) }),
      ...{ running, has, wanted: wantedBusy(load, within) },
    }
  })
}

function added(shares: readonly { running: number; most: number }[]): Capacity & { running: number } {
  const sum = (of: 'running' | 'most') => shares.reduce((all, share) => all + share[of], 0)
  return { running: sum('running'), slots: sum('most'), processes: shares.length }
}
