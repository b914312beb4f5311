import { type Agent, TransientError } from '../../packages/triarch/src/index.ts'
import type { BreakerWrite } from '../../packages/triarch/src/store/port.ts'
import { storedRate } from '../../packages/triarch/src/store/rate.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import { type Begun, laned } from './lane.ts'
import { keyOf } from './outage.ts'
import type { Plan } from './plan.ts'

/** Rate limits before services. */
export interface ThrottlePlan {
  /** How many attempts of each agent may begin in a time (ms). */
  limit: number
  per: number
  burst: number
  /** And of one of its actions. */
  charges?: { limit: number; burst: number }
  /** Each key has limits of its own. */
  keyed?: true
  /** After how many attempts each the service asks for a rest, and how long (ms). */
  rests?: { each: number; ms: number }
}

const CHARGE = 'shop.charge'
/** So far ahead nodes reserve (ms): they may use it although they have not heard of a rest, or of another rule. */
export const AHEAD = 500
/** How far a node's clock may be from the store's, besides what calls take (ms). */
export const ASKEW = 50

/** Rate limits before services, and when those were called. */
export class Throttle {
  readonly #world: World
  readonly #clock: { now(): number }
  readonly #plan: ThrottlePlan | null
  /** By the limit, and by the store's clock: where that leaps ahead, time has passed for rates. */
  readonly #begun = new Map<string, number[]>()
  /** By the limit, rests as the store has them: since when, and until when by its clock. */
  readonly #rests = new Map<string, { since: number; until: number }[]>()
  /** True time since the beginning (ms). */
  readonly #leapsAt: readonly number[]
  /** The store forgets, also of rests. */
  readonly #forgets: boolean
  #calls = 0
  readonly #restless: string[] = []

  /** `clock`: the store's. */
  constructor(world: World, clock: { now(): number }, { throttle, leaps, loss }: Plan) {
    this.#world = world
    this.#clock = clock
    this.#plan = throttle ?? null
    this.#leapsAt = (leaps ?? []).map(({ at }) => at)
    this.#forgets = loss !== undefined
  }

  /** The agent with its limits, before a service that asks for a rest now and then. */
  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan) return agent
    const { per, charges } = plan
    const key = plan.keyed && { key: keyOf }
    const rateLimit = { limit: plan.limit, per, burst: plan.burst, ...key }
    const actions = [...agent.actions].map(([name, action]) => {
      const own = charges && action.key === CHARGE && { rateLimit: { ...charges, per, ...key } }
      return [name, own ? { ...action, definition: { ...action.definition, ...own } } : action] as const
    })
    return laned(machine, Object.freeze({ ...agent, rateLimit, actions: new Map(actions) }), (begun) => {
      for (const name of this.#limitsOf(begun)) this.#count(name)
      if (plan.rests && ++this.#calls % plan.rests.each === 0)
        throw new TransientError('injected: too many requests', { retryAfter: plan.rests.ms })
    })
  }

  #limitsOf({ agent, action, operation, key }: Begun): string[] {
    const of = this.#plan?.charges && action === CHARGE && operation !== 'finalize' ? [agent, action] : [agent]
    return this.#plan?.keyed ? of.map((name) => `${name}#${key}`) : of
  }

  #count(name: string): void {
    const begun = this.#begun.get(name) ?? []
    this.#begun.set(name, begun)
    if (!this.#leaps()) begun.push(this.#clock.now())
    const tolerance = (this.#ruleOf(name).burst * (this.#plan?.per ?? 0)) / this.#ruleOf(name).limit
    const heard = this.#world.now - AHEAD - tolerance - ASKEW
    const rest = this.#rests.get(name)?.find(({ since, until }) => since < heard && until > this.#clock.now())
    if (rest)
      this.#restless.push(`an attempt of ${name} began ${rest.until - this.#clock.now()} ms before its rest is over`)
  }

  /** The store's clock has just leapt: what was reserved before comes beside what is due by now. */
  #leaps(): boolean {
    const { elapsed } = this.#world
    return this.#leapsAt.some((at) => elapsed >= at && elapsed < at + AHEAD + ASKEW)
  }

  #ruleOf(name: string): { limit: number; burst: number } {
    const { charges, limit, burst } = this.#plan as ThrottlePlan
    return charges && name.startsWith(CHARGE) ? charges : { limit, burst }
  }

  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (!this.#plan || this.#forgets || name !== 'writeBreaker' || answer !== true) return
    const { kind, name: limit, state } = args[0] as BreakerWrite
    if (kind !== 'rate') return
    const until = storedRate(state)?.state.rests ?? 0
    const rests = this.#rests.get(limit) ?? []
    this.#rests.set(limit, rests)
    if (until > (rests.at(-1)?.until ?? 0)) rests.push({ since: this.#world.now, until })
  }

  /** Spans in which more began than a limit allows, and what began although the service wanted to be left alone. */
  get faults(): string[] {
    const per = this.#plan?.per ?? 0
    const many = [...this.#begun].flatMap(([name, begun]) => {
      const { limit, burst } = this.#ruleOf(name)
      const from = spanOf(begun, limit + burst, per)
      if (from === null) return []
      return [`of ${name} more than ${limit + burst} attempts began within ${per} ms from ${from} on`]
    })
    return [...many, ...this.#restless]
  }
}

/** When a span of so long begins in which there are more; null: there is none. */
export function spanOf(times: readonly number[], most: number, per: number): number | null {
  const sorted = times.toSorted((a, b) => a - b)
  // The one that comes after all that are allowed is at least a span later than the first of them.
  return sorted.find((from, index) => (sorted[index + most] ?? Number.POSITIVE_INFINITY) < from + per) ?? null
}
