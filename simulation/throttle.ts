import { type Agent, TransientError } from '../packages/triarch/src/index.ts'
import type { Machine } from '../packages/triarch/src/testing/machine.ts'
import { sabotagedAgent } from '../packages/triarch/src/testing/sabotage.ts'
import type { World } from '../packages/triarch/src/testing/world.ts'
import { keyOf } from './outage.ts'
import type { Plan } from './plan.ts'

/** Rate limits before services, and when those were called. */
export class Throttle {
  readonly #world: World
  readonly #plan: NonNullable<Plan['throttle']> | null
  /** In true time, by the agent. */
  readonly #begun = new Map<string, number[]>()
  #calls = 0

  constructor(world: World, { throttle }: Plan) {
    this.#world = world
    this.#plan = throttle ?? null
  }

  /** The agent with its limit, before a service that asks for a rest now and then. */
  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan) return agent
    const { limit, per, burst, keyed } = plan
    const rateLimit = { limit, per, burst, ...(keyed && { key: keyOf }) }
    const limited = Object.freeze({ ...agent, rateLimit })
    return sabotagedAgent(limited, (_, work) => {
      if (!machine.alive) return work()
      const begun = this.#begun.get(agent.name) ?? []
      this.#begun.set(agent.name, begun)
      begun.push(this.#world.now)
      if (plan.rests && ++this.#calls % plan.rests.each === 0)
        throw new TransientError('injected: too many requests', { retryAfter: plan.rests.ms })
      return work()
    })
  }

  /** Spans in which more began than the limit allows. */
  get faults(): string[] {
    const { limit, per, burst } = this.#plan ?? { limit: 0, per: 0, burst: 0 }
    return [...this.#begun].flatMap(([agent, begun]) => {
      const sorted = begun.toSorted((a, b) => a - b)
      // The one that comes after all that are allowed is at least a span later than the first of them.
      const at = sorted.findIndex(
        (from, index) => (sorted[index + limit + burst] ?? Number.POSITIVE_INFINITY) < from + per,
      )
      if (at < 0) return []
      return [`of ${agent} more than ${limit + burst} attempts began within ${per} ms from ${sorted[at]} on`]
    })
  }
}
