import type { AgentDemand, BreakerInfo, HealthReport, SchedulerDemand, TaskInfo, Triarch } from 'triarch'
import { age, monotonic, within } from '../environment.ts'
import { Bound } from './bound.ts'
import { metrics } from './catalogue.ts'
import { LoopDelay } from './delay.ts'
import type { Reading } from './sink.ts'

/** What of an engine is looked at. */
export interface Observed {
  /** Counts. */
  statistics: Pick<Triarch['statistics'], 'get'>
  /** The circuit breakers. */
  breakers: Pick<Triarch['breakers'], 'list'>
  /** The nodes, and how many are needed. */
  nodes: Triarch['nodes']
  /** The health of the engine. */
  health: Pick<Triarch['health'], 'check'>
  /** The tasks. */
  tasks: Pick<Triarch['tasks'], 'list'>
}

/** Circuit breakers of one look, at most; those of keys count. */
const MOST_BREAKERS = 10_000
const BREAKERS_PAGE = 1_000
/** Paused tasks of one look, at most: the page that a list gives. */
const MOST_PAUSED = 1_000
/** A look at the store serves all who ask within so many ms, however many scrape. */
export const FRESH = 5_000

/** A scrape waits for the store for so many ms; Prometheus itself gives up after 10 s by default. */
export const PATIENCE = 2_000

/** What is looked at by calls of its own: one that does not answer leaves out its own readings only. */
type GaugeGroup = 'store' | 'pools'

const unreadable: readonly Reading[] = [{ name: 'triarch.store.readable', value: 0, labels: {} }]

/** How the store and this process are now. It is looked at only when somebody asks. */
export class Gauges {
  readonly #observed: Observed
  readonly #failed: (error: unknown) => void
  readonly #patience: number
  readonly #loop = new LoopDelay()
  /** The last look at each part. One that is not answered yet is not followed by a second. */
  readonly #looks = new Map<GaugeGroup, { at: number; readings: Promise<readonly Reading[]>; open: boolean }>()

  constructor(observed: Observed, failed: (error: unknown) => void, patience = PATIENCE) {
    this.#observed = observed
    this.#failed = failed
    this.#patience = patience
  }

  /** Never rejects, and never waits longer than the patience: the readings of a store that does not answer are missing. */
  async read(): Promise<Reading[]> {
    const [store, pools] = await Promise.all([
      this.#part('store', () => this.#store(), unreadable),
      this.#part('pools', () => this.#pools(), []),
    ])
    return bounded([...store, ...pools, ...this.#delay()])
  }

  close(): void {
    this.#loop.close()
  }

  #delay(): Reading[] {
    const value = this.#loop.read(monotonic())
    return value === null ? [] : [{ name: 'triarch.eventloop.delay', value, labels: {} }]
  }

  /** `missing`: the readings when the look fails or is not answered in time. */
  #part(part: GaugeGroup, look: () => Promise<Reading[]>, missing: readonly Reading[]): Promise<readonly Reading[]> {
    const now = monotonic()
    const last = this.#looks.get(part)
    // Scrapes that come while a look is not answered do not wait again: they would queue behind one another.
    if (last?.open && now - last.at >= this.#patience) return Promise.resolve(missing)
    if (last && (last.open || now - last.at < FRESH)) return within(this.#patience, last.readings, missing)
    const begun = {
      at: now,
      open: true,
      readings: look()
        .catch((error: unknown) => {
          this.#failed(error)
          return missing
        })
        .finally(() => {
          begun.open = false
        }),
    }
    this.#looks.set(part, begun)
    return within(this.#patience, begun.readings, missing)
  }

  async #pools(): Promise<Reading[]> {
    return ofPools(await this.#observed.health.check({ checks: ['pool'] }))
  }

  async #store(): Promise<Reading[]> {
    const [statistics, { agents, schedulers }, breakers, nodes, { tasks: paused }] = await Promise.all([
      this.#observed.statistics.get(),
      this.#observed.nodes.demand(),
      this.#breakers(),
      this.#observed.nodes.list(),
      this.#observed.tasks.list({ filter: 'status:paused -cause:operator sort:oldest', limit: MOST_PAUSED }),
    ])
    return [
      { name: 'triarch.store.readable', value: 1, labels: {} },
      { name: 'triarch.store.tasks', value: statistics.tasks, labels: {} },
      { name: 'triarch.store.ready', value: statistics.ready, labels: {} },
      { name: 'triarch.store.inbox', value: statistics.inbox, labels: {} },
      ...agents.flatMap(ofAgent),
      ...schedulers.flatMap(ofScheduler),
      ...ofBreakers(breakers),
      ...ofNodes(nodes),
      ...ofPaused(paused),
    ]
  }

  async #breakers(): Promise<BreakerInfo[]> {
    const all: BreakerInfo[] = []
    let cursor: string | undefined
    do {
      const page = { limit: BREAKERS_PAGE, ...(cursor !== undefined && { cursor }) }
      const { breakers, next } = await this.#observed.breakers.list(page)
      all.push(...breakers)
      cursor = next
    } while (cursor !== undefined && all.length < MOST_BREAKERS)
    return all
  }
}

/** Values of an attribute beyond its bound are one: the sum of their counts, the worst of their times. */
function bounded(readings: readonly Reading[]): Reading[] {
  const bound = new Bound()
  const all = new Map<string, Reading>()
  for (const { name, value, labels: given } of readings) {
    const labels = Object.fromEntries(Object.entries(given).map(([key, text]) => [key, bound.of(key, text)]))
    const key = JSON.stringify([name, labels])
    const before = all.get(key)?.value ?? 0
    const isTime = metrics[name].unit === 's'
    all.set(key, { name, labels, value: isTime ? Math.max(before, value) : before + value })
  }
  return [...all.values()]
}

const ofPool = {
  most: 'triarch.store.pool.connections',
  busy: 'triarch.store.pool.busy',
  waiting: 'triarch.store.pool.waiting',
} as const

/** What the check found is `pool.most` and so on, for each. */
function ofPools({ checks }: HealthReport): Reading[] {
  return Object.entries(checks[0]?.observed ?? {}).flatMap(([found, value]) => {
    const [, pool = '', what = ''] = /^(.+)\.(\w+)$/.exec(found) ?? []
    const name = Object.hasOwn(ofPool, what) ? ofPool[what as keyof typeof ofPool] : undefined
    return name !== undefined && typeof value === 'number' ? [{ name, value, labels: { pool } }] : []
  })
}

function ofAgent({ agent, waiting, since, has, wanted }: AgentDemand): Reading[] {
  const labels = { agent }
  return [
    { name: 'triarch.agent.backlog', value: waiting, labels },
    { name: 'triarch.agent.slots', value: has.slots, labels },
    { name: 'triarch.agent.nodes', value: has.processes, labels },
    { name: 'triarch.agent.backlog.age', value: since ? age(since) : 0, labels },
    { name: 'triarch.agent.demand', value: wanted.processes, labels },
  ]
}

function ofScheduler({ workflow, version, waiting, since, wanted }: SchedulerDemand): Reading[] {
  const labels = { workflow, version }
  return [
    { name: 'triarch.scheduler.backlog', value: waiting, labels },
    { name: 'triarch.scheduler.backlog.age', value: since ? age(since) : 0, labels },
    { name: 'triarch.scheduler.demand', value: wanted.processes, labels },
  ]
}

function ofBreakers(breakers: readonly BreakerInfo[]): Reading[] {
  const states = new Map<string, Reading>()
  for (const { agent, state: phase, idle, keyed } of breakers) {
    if (keyed) continue
    const state = idle ? 'idle' : phase
    const key = JSON.stringify([agent, state])
    const value = (states.get(key)?.value ?? 0) + 1
    states.set(key, { name: 'triarch.breaker.state', value, labels: { agent, state } })
  }
  return [...states.values()]
}

function ofPaused(tasks: readonly TaskInfo[]): Reading[] {
  const causeOf = ({ pause }: TaskInfo) => pause?.cause ?? 'unknown'
  const groups = Map.groupBy(tasks, (task) => JSON.stringify([task.workflow, causeOf(task)]))
  return [...groups.values()].flatMap((all) => {
    const labels = { workflow: all[0]?.workflow ?? '', cause: all[0] ? causeOf(all[0]) : '' }
    const longest = Math.max(...all.map(({ updatedAt }) => age(updatedAt)))
    return [
      { name: 'triarch.store.paused' as const, value: all.length, labels },
      { name: 'triarch.store.paused.age' as const, value: longest, labels },
    ]
  })
}

function ofNodes(nodes: Awaited<ReturnType<Observed['nodes']['list']>>): Reading[] {
  const roles = ['scheduler', 'agent', 'supervisor'].map((role) => {
    const value = nodes.filter((node) => node.roles.includes(role)).length
    return { name: 'triarch.node.living' as const, value, labels: { role } }
  })
  if (nodes.length === 0) return roles
  const remaining = Math.min(...nodes.map(({ leaseUntil }) => -age(leaseUntil)))
  return [...roles, { name: 'triarch.node.lease.remaining', value: remaining, labels: {} }]
}
