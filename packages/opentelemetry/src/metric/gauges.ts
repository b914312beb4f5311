import type { AgentDemand, BreakerInfo, HealthReport, SchedulerDemand, Triarch } from 'triarch'
import { age, monotonic } from '../environment.ts'
import { LoopDelay } from './delay.ts'
import type { Reading } from './sink.ts'

/** What of an engine is looked at. */
export type Observed = Pick<Triarch, 'statistics' | 'demand' | 'breakers' | 'nodes' | 'health'>

/** Circuit breakers of one look, at most; those of keys count. */
const MOST_BREAKERS = 10_000
const BREAKERS_PAGE = 1_000
/** A look at the store serves all who ask within so many ms, however many scrape. */
export const FRESH = 5_000

/** How the store and this process are now. It is looked at only when somebody asks. */
export class Gauges {
  readonly #observed: Observed
  readonly #failed: (error: unknown) => void
  readonly #loop = new LoopDelay()
  #last: { at: number; readings: Promise<Reading[]> } | null = null

  constructor(observed: Observed, failed: (error: unknown) => void) {
    this.#observed = observed
    this.#failed = failed
  }

  /** Never rejects: what a store that does not answer would say is missing. */
  async read(): Promise<Reading[]> {
    const now = monotonic()
    if (!this.#last || now - this.#last.at >= FRESH) this.#last = { at: now, readings: this.#look() }
    return [...(await this.#last.readings), ...this.#delay()]
  }

  close(): void {
    this.#loop.close()
  }

  #delay(): Reading[] {
    const value = this.#loop.read(monotonic())
    return value === null ? [] : [{ name: 'triarch.eventloop.delay', value, labels: {} }]
  }

  async #look(): Promise<Reading[]> {
    // Also of a store that does not answer: who waits for it is told by this process alone.
    const [store, pools] = await Promise.all([this.#store(), this.#pools()])
    return [...store, ...pools]
  }

  async #pools(): Promise<Reading[]> {
    try {
      return ofPools(await this.#observed.health({ checks: ['pool'] }))
    } catch (error) {
      this.#failed(error)
      return []
    }
  }

  async #store(): Promise<Reading[]> {
    try {
      const [statistics, { agents, schedulers }, breakers, nodes] = await Promise.all([
        this.#observed.statistics(),
        this.#observed.demand(),
        this.#breakers(),
        this.#observed.nodes(),
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
      ]
    } catch (error) {
      this.#failed(error)
      return [{ name: 'triarch.store.readable', value: 0, labels: {} }]
    }
  }

  async #breakers(): Promise<BreakerInfo[]> {
    const all: BreakerInfo[] = []
    let cursor: string | undefined
    do {
      const page = { limit: BREAKERS_PAGE, ...(cursor !== undefined && { cursor }) }
      const { breakers, next } = await this.#observed.breakers(page)
      all.push(...breakers)
      cursor = next
    } while (cursor !== undefined && all.length < MOST_BREAKERS)
    return all
  }
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
  for (const { agent, state, keyed } of breakers) {
    if (keyed) continue
    const key = JSON.stringify([agent, state])
    const value = (states.get(key)?.value ?? 0) + 1
    states.set(key, { name: 'triarch.breaker.state', value, labels: { agent, state } })
  }
  return [...states.values()]
}

function ofNodes(nodes: Awaited<ReturnType<Observed['nodes']>>): Reading[] {
  const roles = ['scheduler', 'agent', 'supervisor'].map((role) => {
    const value = nodes.filter((node) => node.roles.includes(role)).length
    return { name: 'triarch.node.living' as const, value, labels: { role } }
  })
  if (nodes.length === 0) return roles
  const remaining = Math.min(...nodes.map(({ leaseUntil }) => -age(leaseUntil)))
  return [...roles, { name: 'triarch.node.lease.remaining', value: remaining, labels: {} }]
}
