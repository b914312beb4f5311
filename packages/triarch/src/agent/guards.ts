import { type AgentBreaker, toAgentBreaker } from '../definition/breaker.ts'
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

/** The guards of a node's agents: of those that have a circuit breaker, by their code or by a setting, or whose steps wait by keys. */
export class Guards {
  readonly #guards: Map<string, Guard>
  readonly #make: (agent: Agent, breaker: AgentBreaker | null) => Guard
  readonly #every: number
  #breakers: Breakers | null = null

  private constructor(
    guards: Map<string, Guard>,
    make: (agent: Agent, breaker: AgentBreaker | null) => Guard,
    every: number,
  ) {
    this.#guards = guards
    this.#make = make
    this.#every = every
  }

  static of(agents: readonly Agent[], environment: Environment, poll: number): Guards {
    const every = Math.max(poll, LEAST_READING)
    const lasting = Math.max(LASTING, LASTING_READINGS * every)
    const make = (agent: Agent, breaker: AgentBreaker | null) => {
      const [keys, instead] = [new Keys(agent), new Instead(agent)]
      return new Guard({ agent: agent.name, keys, instead }, breaker, environment, lasting)
    }
    const guards = agents.flatMap((agent): [string, Guard][] => {
      const { name, circuitBreaker } = agent
      const breaker = circuitBreaker && toAgentBreaker(`agent "${name}": circuitBreaker`, circuitBreaker)
      const guard = make(agent, breaker ?? null)
      return guard.none ? [] : [[name, guard]]
    })
    return new Guards(new Map(guards), make, every)
  }

  of({ name }: Agent): Guard | null {
    return this.#guards.get(name) ?? null
  }

  /** Its breaker is this one from now on; null: it has none. What stands before it then; null: nothing. */
  change(agent: Agent, breaker: AgentBreaker | null): Guard | null {
    const known = this.#guards.get(agent.name)
    if (known) known.become(breaker)
    else if (breaker) {
      const guard = this.#make(agent, breaker)
      this.#guards.set(agent.name, guard)
      this.#breakers?.add(guard)
    }
    const guard = this.#guards.get(agent.name)
    return !guard || guard.none ? null : guard
  }

  /** The part of the node that reads and writes for them. `free`: slots of an agent. */
  breakers({
    lease,
    free,
    ...options
  }: Omit<BreakersOptions, 'guards' | 'every' | 'room'> & { free: (agent: string) => number }): Breakers {
    const room = (agent: string) => Math.min(MOST_PASSES, free(agent))
    this.#breakers = new Breakers({
      ...options,
      room,
      guards: () => [...this.#guards.values()],
      every: this.#every,
      lease: () => LEASES * lease(),
    })
    return this.#breakers
  }
}
