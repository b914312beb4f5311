import { toAgentBreaker } from '../definition/breaker.ts'
import type { Agent } from '../definition/definition.ts'
import type { Environment } from '../environment/environment.ts'
import { Breakers, type BreakersOptions } from './breakers.ts'
import { Guard } from './guard.ts'
import { Instead } from './instead.ts'
import { Keys } from './key.ts'

/** Circuit breakers are read again after this long, at least (ms). */
const LEAST_READING = 50
/** So long a reading of them is good, and so many times as long as they are apart (ms). */
const LASTING = 1_000
const LASTING_READINGS = 10
/** Attempts that one node asks a breaker for at a time. */
const MOST_PASSES = 500
/** A node that says nothing for so many leases has lost what it was let start. */
const LEASES = 2

/** The guards of a node's agents: of those that have a circuit breaker, or whose steps wait by keys. */
export class Guards {
  readonly #guards: ReadonlyMap<string, Guard>
  readonly #every: number

  private constructor(guards: ReadonlyMap<string, Guard>, every: number) {
    this.#guards = guards
    this.#every = every
  }

  static of(agents: readonly Agent[], environment: Environment, poll: number): Guards {
    const every = Math.max(poll, LEAST_READING)
    const lasting = Math.max(LASTING, LASTING_READINGS * every)
    const guards = agents.flatMap((agent): [string, Guard][] => {
      const { name, circuitBreaker } = agent
      const keys = new Keys(agent)
      if (circuitBreaker === undefined && keys.none) return []
      const breaker = circuitBreaker && toAgentBreaker(`agent "${name}": circuitBreaker`, circuitBreaker)
      const instead = new Instead(agent)
      return [[name, new Guard({ agent: name, keys, instead }, breaker ?? null, environment, lasting)]]
    })
    return new Guards(new Map(guards), every)
  }

  of({ name }: Agent): Guard | null {
    return this.#guards.get(name) ?? null
  }

  /** The part of the node that reads and writes for them; null: there are none. `free`: slots of an agent. */
  breakers({
    lease,
    free,
    ...options
  }: Omit<BreakersOptions, 'guards' | 'every' | 'room'> & { free: (agent: string) => number }): Breakers | null {
    if (this.#guards.size === 0) return null
    const room = (agent: string) => Math.min(MOST_PASSES, free(agent))
    return new Breakers({
      ...options,
      room,
      guards: [...this.#guards.values()],
      every: this.#every,
      lease: () => LEASES * lease(),
    })
  }
}
