import { type AgentBreaker, toAgentBreaker } from '../definition/breaker.ts'
import type { Agent } from '../definition/definition.ts'
import type { Environment } from '../environment/environment.ts'
import { BreakerGate } from './breaker-gate.ts'
import { BreakerSync, type BreakerSyncOptions } from './breaker-sync.ts'
import { FallbackChoice } from './fallback-choice.ts'
import { QueueKeys } from './queue-key.ts'

/** The least distance of two readings of circuit breakers (ms). */
const LEAST_READING = 50
/** A reading is valid for this long at least (ms), and for so many times the distance of two readings. */
const LASTING = 1_000
const LASTING_READINGS = 10
/** Permits that one node asks a breaker for at a time. */
const MOST_PASSES = 500
/** A node that is silent for so many leases has lost its permits. */
const LEASES = 2

/** The breaker gates of a node's agents that have a circuit breaker, by their code or by a setting, or whose steps wait in queues by key. */
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

  /** Changes an agent's breaker; null removes it. Returns the agent's gate, or null if it needs none. */
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

  /** The service that reads and writes the breakers. `free`: free slots of an agent. */
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
