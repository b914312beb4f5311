import type { Agent } from '../definition/definition.ts'
import { type RateLimitOptions, toRateRule } from '../definition/rate.ts'
import type { Environment } from '../environment/environment.ts'
import type { RateRule } from '../policy/rate.ts'
import { KeyedRateLimit } from './keyed-rate-limit.ts'
import { RateLimiter } from './rate-limiter.ts'
import { RateReservation } from './rate-reservation.ts'
import { RateSync, type RateSyncOptions } from './rate-sync.ts'

/** The least distance of two readings of rate limits (ms). */
const LEAST_READING = 50

/** The rate limiters of a node's agents that have a rate limit, by their code or by a setting. */
export class RateLimiters {
  readonly #limiters = new Map<string, RateLimiter>()
  readonly #environment: Environment
  readonly #every: number
  readonly #lag: () => number
  #sync: RateSync | null = null

  private constructor(environment: Environment, poll: number, lag: () => number) {
    this.#environment = environment
    this.#every = Math.max(poll, LEAST_READING)
    this.#lag = lag
  }

  static of(agents: readonly Agent[], environment: Environment, poll: number, lag: () => number): RateLimiters {
    const paces = new RateLimiters(environment, poll, lag)
    for (const agent of agents) paces.change(agent, limitsOf(agent))
    return paces
  }

  of({ name }: Agent): RateLimiter | null {
    return this.#limiters.get(name) ?? null
  }

  /** Changes the limits of an agent and its actions (by name). Returns the agent's limiter, or null if it has none. */
  change(agent: Agent, limits: ReadonlyMap<string, RateLimitOptions>): RateLimiter | null {
    const rules = [...limits].map(([name, options]) => [name, toRateRule(`"${name}": rateLimit`, options)] as const)
    if (rules.length === 0 && !this.#limiters.has(agent.name)) return null
    const pace = this.#limiters.get(agent.name) ?? new RateLimiter(agent.name, [])
    const known = new Map(pace.all.map((quota) => [quota.name, quota]))
    for (const [name, rule] of rules) {
      const quota = known.get(name)
      if (quota) quota.change(rule)
      else this.#add(pace, agent, { name, isKeyed: limits.get(name)?.key !== undefined }, rule)
    }
    for (const quota of pace.all.filter(({ name }) => !limits.has(name))) {
      pace.remove(quota)
      this.#sync?.withdraw(quota)
    }
    if (pace.all.length > 0) this.#limiters.set(agent.name, pace)
    else this.#limiters.delete(agent.name)
    return this.of(agent)
  }

  #add(pace: RateLimiter, { name: agent }: Agent, quota: { name: string; isKeyed: boolean }, rule: RateRule): void {
    const make = (name: string, own: RateRule) =>
      new RateReservation({ name, agent }, own, this.#environment, this.#lag)
    const added = new KeyedRateLimit(quota, rule, make)
    pace.add(added)
    this.#sync?.add(added)
  }

  /** The service that reads and writes the rate limits. */
  rates(options: Omit<RateSyncOptions, 'quotas' | 'every' | 'lag'>): RateSync {
    const quotas = () => [...this.#limiters.values()].flatMap(({ all }) => all)
    this.#sync = new RateSync({ ...options, quotas, every: this.#every, lag: this.#lag })
    return this.#sync
  }
}

/** The limits that an agent's code says. */
function limitsOf({ name, rateLimit, actions }: Agent): Map<string, RateLimitOptions> {
  const all = [
    [name, rateLimit] as const,
    ...[...actions.values()].map(({ key, definition }) => [key, definition.rateLimit] as const),
  ]
  return new Map(all.flatMap(([of, options]) => (options === undefined ? [] : [[of, options]])))
}
