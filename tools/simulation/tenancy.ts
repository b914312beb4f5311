import { type Agent, TransientError, type TriarchOptions } from '../../packages/triarch/src/index.ts'
import { agentOfQueue } from '../../packages/triarch/src/store/breaker.ts'
import type { Claim, ClaimRequest, HeadQuery, TakeWork, WorkItem } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import { sabotagedAgent } from '../../packages/triarch/src/testing/sabotage.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { keyOf } from './outage.ts'
import type { Plan } from './plan.ts'
import type { Vault } from './vault.ts'

/** Tenants who share the slots of the shop, whose steps wait in several queues, and the places of tasks in memory. */
export interface TenancyPlan {
  concurrency: number
  /** How much more than others the tenant has that is called gold. */
  gold: number
  /** What keys are of: a bound over all nodes that is never reached; or circuit breakers, and when the shop is ill (ms). */
  by: 'bound' | { ill: { at: number; ms: number } }
}

/** Tenants who are quiet: each of them may wait behind one of a loud tenant in its queue. */
export const QUIET = 8
/** So many tasks of one other tenant of weight 1 may go before the first of a newcomer: what begins at the same place, and what was taken out of turn before. */
const MOST_TASKS = 6
/** So many steps: each process has a round of its own, so that the first of a newcomer may wait in each of them. */
const MOST_STEPS = 2 * MOST_TASKS
/** By so much service of one process may tenants be apart while both wait: what it did not see waits as well. */
const MOST_APART = 10

const QUEUED = `
SELECT t.id AS task, w.step, w.agent, w.priority, w.operation, w.request ->> '$.share.key' AS share FROM triarch_work w
JOIN triarch_tasks t ON t.key = w.task
WHERE w.locked_by IS NULL AND w.agent >= 'shop' AND w.agent < 'shop$' AND (w.expires_at IS NULL OR w.expires_at > ?)`
const READY = `
SELECT key, id, workflow, version, priority, control, share ->> 'key' AS share FROM triarch_tasks WHERE ready = 1 AND suspicion < 2`
const SHARE = `SELECT priority, share ->> 'key' AS share FROM triarch_tasks WHERE id = ?`

interface Queued {
  task: string
  step: number
  agent: string
  priority: number
  operation: string
  share: string | null
}

/** Who waits, and how many of each other were taken meanwhile. */
interface Waiting {
  share: string
  /** Its tenant had nothing else there when it came. */
  newcomer: boolean
  passed: Map<string, number>
}

/** Whose turn it was, as the store saw what was asked and given. */
export class Tenancy {
  readonly faults: string[] = []
  readonly #world: World
  readonly #store: Vault
  readonly #plan: TenancyPlan | null
  readonly #apart: number
  readonly #steps = new Map<string, Waiting>()
  readonly #tasks = new Map<string, Waiting>()
  /** The queues that a machine compared before it took. */
  readonly #compared = new Map<Machine, readonly string[]>()
  /**
   * What gold and loud were given since both wait, by each process: it has a round of its own, and begins anew with each crash, always by the same of
   * equals. What stands in the way of another tenant in its queue is given for that one's sake: where quiet ones come to stand behind loud, loud
   * may have as much as gold, whatever gold has more. But nobody else is chosen who is ahead.
   */
  readonly #served = new Map<Machine, { gold: number; loud: number }>()

  constructor(world: World, store: Vault, { tenancy }: Plan) {
    this.#world = world
    this.#store = store
    this.#plan = tenancy ?? null
    // Who has less than others is given more of it at once.
    this.#apart = MOST_APART * Math.max(1, 1 / (tenancy?.gold ?? 1))
  }

  /** Of all processes that submit. */
  options(): Pick<TriarchOptions, 'fairness'> {
    return this.#plan ? { fairness: this.#fairness(this.#plan) } : {}
  }

  #fairness({ gold }: TenancyPlan) {
    return {
      key: ({ id }: { id: string }) => tenantOf(id),
      weight: (tenant: string) => (tenant === 'gold' ? gold : 1),
    }
  }

  agent(agent: Agent): Agent {
    const plan = this.#plan
    if (!plan || agent.name !== 'shop') return agent
    const { concurrency, by } = plan
    const fair = { ...agent, concurrency, fairness: this.#fairness(plan) }
    if (by === 'bound') return Object.freeze({ ...fair, shared: 1_000, sharedKey: keyOf })
    const circuitBreaker = {
      failureRate: 0.5,
      window: 2_000,
      minimum: 2,
      open: 300,
      openMax: 600,
      probes: 2,
      key: keyOf,
    }
    return sabotagedAgent(Object.freeze({ ...fair, circuitBreaker }), (_, work) => {
      const { at, ms } = by.ill
      if (this.#world.elapsed >= at && this.#world.elapsed < at + ms) throw new TransientError('injected: an outage')
      return work()
    })
  }

  readonly observe = ({ machine, name, args }: LinkCall, answer: unknown): void => {
    if (!this.#plan) return
    if (name === 'queueHeads')
      this.#compared.set(
        machine,
        (args[0] as HeadQuery).queues.map(({ agent }) => agent),
      )
    if (name === 'takeWork') {
      this.#took(machine, args[0] as TakeWork, answer as WorkItem[])
      this.#compared.delete(machine)
    }
    if (name === 'claim') this.#claimed(args[0] as ClaimRequest, answer as readonly Claim[])
  }

  #took(machine: Machine, { agents }: TakeWork, items: readonly WorkItem[]): void {
    const compared = this.#compared.get(machine) ?? []
    const its = items.filter(({ agent }) => agentOfQueue(agent) === 'shop')
    if (its.length === 0) return
    const left = this.#store.database.all<Queued>(QUEUED, this.#store.clock.now())
    const inView = new Set([...compared, ...agents.map(({ agent }) => agent)])
    this.#meet(
      this.#steps,
      left.map((it) => ({ ...it, key: `${it.task} ${it.step} ${it.operation}` })),
    )
    for (const one of left) {
      const waiting = this.#steps.get(`${one.task} ${one.step} ${one.operation}`)
      // What only passes through the queue of the agent itself is not served there.
      if (!waiting || !inView.has(one.agent) || one.agent === 'shop') continue
      // What a breaker lets through of one queue nobody waits for in another.
      const alone = this.#plan?.by !== 'bound'
      const before = its.filter(
        ({ agent, request }) =>
          agent !== 'shop' &&
          (!alone || agent === one.agent) &&
          (request.rank ?? 0) === one.priority &&
          request.operation === 'run',
      )
      // What stands in the way of another, in a queue of its own, is taken for that one's sake.
      for (const { agent, request } of before)
        if (agent === one.agent || !left.some((it) => it.agent === agent && it.share !== request.share?.key))
          this.#pass(waiting, request.share?.key, MOST_STEPS, `step ${one.step} of ${one.task}`)
    }
    const inSight = left.filter(({ agent }) => inView.has(agent))
    this.#weigh(machine, its, inSight)
  }

  #weigh(machine: Machine, items: readonly WorkItem[], left: readonly Queued[]): void {
    const waits = (tenant: string) => left.some((it) => it.share === tenant && it.priority === 0)
    if (this.#plan?.by !== 'bound' || !waits('gold') || !waits('loud')) {
      this.#served.delete(machine)
      return
    }
    const served = this.#served.get(machine) ?? { gold: 0, loud: 0 }
    this.#served.set(machine, served)
    for (const { agent, request } of items) {
      const tenant = request.share?.key
      if (agent === 'shop' || (tenant !== 'gold' && tenant !== 'loud')) continue
      served[tenant] += tenant === 'gold' ? 1 / this.#plan.gold : 1
      const ahead = served[tenant] - served[tenant === 'gold' ? 'loud' : 'gold']
      const inTheWay = left.some((it) => it.agent === agent && it.share !== tenant)
      if (inTheWay || ahead <= this.#apart) continue
      this.faults.push(`${machine.name} served ${tenant}, who was ${ahead} ahead of another who waits`)
      this.#served.delete(machine)
    }
  }

  #claimed({ runnable, except = [] }: ClaimRequest, claims: readonly Claim[]): void {
    if (claims.length === 0) return
    const { database } = this.#store
    const left = database.all<{
      key: number
      id: string
      workflow: string
      version: string
      priority: number
      control: number
      share: string | null
    }>(READY)
    this.#meet(
      this.#tasks,
      left.map(({ id, share }) => ({ key: id, share })),
    )
    // Suspects go by themselves.
    if (claims.some(({ trial }) => trial)) return
    for (const one of left) {
      const waiting = this.#tasks.get(one.id)
      if (!waiting || one.control === 1 || except.includes(one.key)) continue
      if (!runnable.some((it) => it.workflow === one.workflow && it.version === one.version)) continue
      for (const { id, workflow, version } of claims) {
        const row = database.get<{ priority: number; share: string | null }>(SHARE, id)
        if (row?.priority === one.priority && workflow === one.workflow && version === one.version)
          this.#pass(waiting, row.share, MOST_TASKS, `task ${one.id}`)
      }
    }
  }

  /** Those that are new there, and those that have gone. */
  #meet(all: Map<string, Waiting>, left: readonly { key: string; share: string | null }[]): void {
    const there = new Set(left.map(({ key }) => key))
    for (const key of all.keys()) if (!there.has(key)) all.delete(key)
    for (const { key, share } of left) {
      if (all.has(key) || share === null) continue
      // The loud come back before what they had is over.
      const newcomer = share !== 'loud' && share !== 'gold' && left.filter((it) => it.share === share).length === 1
      all.set(key, { share, newcomer, passed: new Map() })
    }
  }

  #pass({ share, newcomer, passed }: Waiting, other: string | null | undefined, few: number, what: string): void {
    if (!newcomer || !other || other === share) return
    const count = (passed.get(other) ?? 0) + 1
    passed.set(other, count)
    const most = few * Math.max(1, other === 'gold' ? (this.#plan?.gold ?? 1) : 1)
    if (count === most + 1) this.faults.push(`${what} of ${share} waits for ${count} of ${other}`)
  }
}

function tenantOf(id: string): string {
  return /^(loud|gold) /.exec(id)?.[1] ?? id.replaceAll(/[^ -~]/g, '')
}
