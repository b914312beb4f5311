import { type AgentBreaker, toAgentBreaker } from '../definition/breaker.ts'
import type { Agent } from '../definition/definition.ts'
import type { Environment } from '../environment/environment.ts'
import { BreakerGate } from './breaker-gate.ts'
import { BreakerSync, type BreakerSyncOptions } from './breaker-sync.ts'
import { FallbackChoice } from './fallback-choice.ts'
import { QueueKeys } from './queue-key.ts'

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
export class BreakerGates {
  readonly #gates: Map<string, BreakerGate>
  readonly #make: (agent: Agent, breaker: AgentBreaker | null) => BreakerGate
  readonly #every: number
  #sync: BreakerSync | null = null

  private constructor(
    guards: Map<string, BreakerGate>,
    make: (agent: Agent, breaker: AgentBreaker | null) => BreakerGate,
    every: number,
  ) {
    this.#gates = guards
    this.#make = make
    this.#every = every
  }

  static of(agents: readonly Agent[], environment: Environment, poll: number): BreakerGates {
    const every = Math.max(poll, LEAST_READING)
    const lasting = Math.max(LASTING, LASTING_READINGS * every)
    const make = (agent: Agent, breaker: AgentBreaker | null) => {
      const [keys, instead] = [new QueueKeys(agent), new FallbackChoice(agent)]
      return new BreakerGate({ agent: agent.name, keys, instead }, breaker, environment, lasting)
    }
    const guards = agents.flatMap((agent): [string, BreakerGate][] => {
      const { name, circuitBreaker } = agent
      const breaker = circuitBreaker && toAgentBreaker(`agent "${name}": circuitBreaker`, circuitBreaker)
      const guard = make(agent, breaker ?? null)
      return guard.none ? [] : [[name, guard]]
    })
    return new BreakerGates(new Map(guards), make, every)
  }

  of({ name }: Agent): BreakerGate | null {
    return this.#gates.get(name) ?? null
  }

  /** Its breaker is this one from now on; null: it has none. What stands before it then; null: nothing. */
  change(agent: Agent, breaker: AgentBreaker | null): BreakerGate | null {
    const known = this.#gates.get(agent.name)
    if (known) known.become(breaker)
    else if (breaker) {
      const guard = this.#make(agent, breaker)
      this.#gates.set(agent.name, guard)
      this.#sync?.add(guard)
    }
    const guard = this.#gates.get(agent.name)
    return !guard || guard.none ? null : guard
  }

  /** The part of the node that reads and writes for them. `free`: slots of an agent. */
  breakers({
    lease,
    free,
    ...options
  }: Omit<BreakerSyncOptions, 'guards' | 'every' | 'room'> & { free: (agent: string) => number }): BreakerSync {
    const room = (agent: string) => Math.min(MOST_PASSES, free(agent))
    this.#sync = new BreakerSync({
      ...options,
      room,
      guards: () => [...this.#gates.values()],
      every: this.#every,
      lease: () => LEASES * lease(),
    })
    return this.#sync
  }
}
