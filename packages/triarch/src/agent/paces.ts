import type { Agent } from '../definition/definition.ts'
import { type RateLimitOptions, toRateRule } from '../definition/rate.ts'
import type { Environment } from '../environment/environment.ts'
import { Allowance } from './allowance.ts'
import { Pace } from './pace.ts'
import { Quota } from './quota.ts'
import { Rates, type RatesOptions } from './rates.ts'

/** Rate limits are read again after this long, at least (ms). */
const LEAST_READING = 50

/** The paces of a node's agents: of those that have a rate limit. */
export class Paces {
  readonly #paces: ReadonlyMap<string, Pace>
  readonly #every: number
  readonly #lag: () => number

  private constructor(paces: ReadonlyMap<string, Pace>, every: number, lag: () => number) {
    this.#paces = paces
    this.#every = every
    this.#lag = lag
  }

  static of(agents: readonly Agent[], environment: Environment, poll: number, lag: () => number): Paces {
    const paces = agents.flatMap(({ name: agent, rateLimit, actions }): [string, Pace][] => {
      const quota = (name: string, options: RateLimitOptions) =>
        new Quota(
          { name, isKeyed: options.key !== undefined },
          toRateRule(`"${name}": rateLimit`, options),
          (one, rule) => new Allowance({ name: one, agent }, rule, environment, lag),
        )
      const own = rateLimit === undefined ? null : quota(agent, rateLimit)
      const of = [...actions.values()].flatMap(({ key, definition }): [string, Quota][] =>
        definition.rateLimit === undefined ? [] : [[key, quota(key, definition.rateLimit)]],
      )
      return own || of.length > 0 ? [[agent, new Pace(agent, own, new Map(of))]] : []
    })
    return new Paces(new Map(paces), Math.max(poll, LEAST_READING), lag)
  }

  of({ name }: Agent): Pace | null {
    return this.#paces.get(name) ?? null
  }

  /** The part of the node that reads and writes for them; null: there are none. */
  rates(options: Omit<RatesOptions, 'quotas' | 'every' | 'lag'>): Rates | null {
    if (this.#paces.size === 0) return null
    const quotas = [...this.#paces.values()].flatMap(({ all }) => all)
    return new Rates({ ...options, quotas, every: this.#every, lag: this.#lag })
  }
}
