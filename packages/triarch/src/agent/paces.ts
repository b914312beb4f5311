import type { Agent } from '../definition/definition.ts'
import { type RateLimitOptions, toRateRule } from '../definition/rate.ts'
import type { Environment } from '../environment/environment.ts'
import type { RateRule } from '../policy/rate.ts'
import { Allowance } from './allowance.ts'
import { Pace } from './pace.ts'
import { Quota } from './quota.ts'
import { Rates, type RatesOptions } from './rates.ts'

/** Rate limits are read again after this long, at least (ms). */
const LEAST_READING = 50

/** The paces of a node's agents: of those that have a rate limit, by their code or by a setting. */
export class Paces {
  readonly #paces = new Map<string, Pace>()
  readonly #environment: Environment
  readonly #every: number
  readonly #lag: () => number
  #rates: Rates | null = null

  private constructor(environment: Environment, poll: number, lag: () => number) {
    this.#environment = environment
    this.#every = Math.max(poll, LEAST_READING)
    this.#lag = lag
  }

  static of(agents: readonly Agent[], environment: Environment, poll: number, lag: () => number): Paces {
    const paces = new Paces(environment, poll, lag)
    for (const agent of agents) paces.change(agent, limitsOf(agent))
    return paces
  }

  of({ name }: Agent): Pace | null {
    return this.#paces.get(name) ?? null
  }

  /** Its limits are these from now on, by its name and those of its actions. What stands before it then; null: nothing. */
  change(agent: Agent, limits: ReadonlyMap<string, RateLimitOptions>): Pace | null {
    const rules = [...limits].map(([name, options]) => [name, toRateRule(`"${name}": rateLimit`, options)] as const)
    if (rules.length === 0 && !this.#paces.has(agent.name)) return null
    const pace = this.#paces.get(agent.name) ?? new Pace(agent.name, [])
    const known = new Map(pace.all.map((quota) => [quota.name, quota]))
    for (const [name, rule] of rules) {
      const quota = known.get(name)
      if (quota) quota.change(rule)
      else this.#add(pace, agent, { name, isKeyed: limits.get(name)?.key !== undefined }, rule)
    }
    for (const quota of pace.all.filter(({ name }) => !limits.has(name))) {
      pace.remove(quota)
      this.#rates?.withdraw(quota)
    }
    if (pace.all.length > 0) this.#paces.set(agent.name, pace)
    else this.#paces.delete(agent.name)
    return this.of(agent)
  }

  #add(pace: Pace, { name: agent }: Agent, quota: { name: string; isKeyed: boolean }, rule: RateRule): void {
    const make = (name: string, own: RateRule) => new Allowance({ name, agent }, own, this.#environment, this.#lag)
    const added = new Quota(quota, rule, make)
    pace.add(added)
    this.#rates?.add(added)
  }

  /** The part of the node that reads and writes for them. */
  rates(options: Omit<RatesOptions, 'quotas' | 'every' | 'lag'>): Rates {
    const quotas = () => [...this.#paces.values()].flatMap(({ all }) => all)
    this.#rates = new Rates({ ...options, quotas, every: this.#every, lag: this.#lag })
    return this.#rates
  }
}

/** What its code says. */
function limitsOf({ name, rateLimit, actions }: Agent): Map<string, RateLimitOptions> {
  const all = [
    [name, rateLimit] as const,
    ...[...actions.values()].map(({ key, definition }) => [key, definition.rateLimit] as const),
  ]
  return new Map(all.flatMap(([of, options]) => (options === undefined ? [] : [[of, options]])))
}
