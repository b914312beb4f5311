import { type Agent, TransientError } from '../../packages/triarch/src/index.ts'
import { storedRest } from '../../packages/triarch/src/store/cooldown.ts'
import type { BreakerWrite } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Calm } from './calm.ts'
import { laned } from './lane.ts'
import type { Plan } from './plan.ts'

/** Services without a rate limit that ask to be left alone: after how many attempts each, and for how long (ms). */
export interface RespitePlan {
  each: number
  ms: number
}

interface Rest {
  /** Who was asked; null: it stands in the store. */
  by: Machine | null
  at: number
  /** Nothing of the agent begins before. */
  until: number
}

/** Services that ask for a rest of the whole agent, and what begins during one. */
export class Respite {
  readonly #world: World
  readonly #clock: { now(): number }
  readonly #plan: RespitePlan | null
  readonly #calm: Calm
  readonly #poll: number
  /** Those that are not over, by agent. */
  readonly #rests = new Map<string, Rest[]>()
  readonly #calls = new Map<string, number>()
  readonly faults: string[] = []

  /** `clock`: the store's. */
  constructor(world: World, clock: { now(): number }, calm: Calm, { respite, settings }: Plan) {
    this.#world = world
    this.#clock = clock
    this.#calm = calm
    this.#plan = respite ?? null
    this.#poll = settings.poll
  }

  /** The agent, before a service that asks for a rest now and then. */
  agent(machine: Machine, agent: Agent): Agent {
    const plan = this.#plan
    if (!plan) return agent
    return laned(machine, agent, ({ agent: name, operation }) => {
      this.#begun(machine, name)
      // What it says in a transaction of the store is no answer of a service.
      if (operation === 'finalize') return
      const calls = (this.#calls.get(name) ?? 0) + 1
      this.#calls.set(name, calls)
      if (calls % plan.each !== 0) return
      if (plan.ms > this.#poll && this.#calm.isSettled(machine))
        this.#restsOf(name).push({
          by: machine,
          at: this.#world.now,
          until: this.#clock.now() + plan.ms - this.#calm.lag,
        })
      throw new TransientError('injected: too many requests', { retryAfter: plan.ms })
    })
  }

  #restsOf(agent: string): Rest[] {
    const rests = (this.#rests.get(agent) ?? []).filter(({ until }) => until > this.#clock.now())
    this.#rests.set(agent, rests)
    return rests
  }

  #begun(machine: Machine, agent: string): void {
    const now = this.#clock.now()
    const rest = this.#restsOf(agent).find((one) => this.#untilFor(machine, one) > now)
    if (!rest) return
    const whose = rest.by === machine ? 'it' : (rest.by?.name ?? 'the store')
    const left = rest.until - now
    this.faults.push(
      `${machine.name} began an attempt of ${agent} ${left} ms before the rest is over that ${whose} was asked for`,
    )
  }

  /** Until when (by the store's clock) this machine keeps that rest for certain; 0: it may not know of it. */
  #untilFor(machine: Machine, { by, at, until }: Rest): number {
    const { now } = this.#world
    if (by === machine) return at < now && this.#calm.since(machine) < at ? until : 0
    // Somebody without trouble who was asked has told the others.
    if (by && !(by.alive && this.#calm.since(by) < at)) return 0
    const told = by ? at + this.#calm.telling : at
    if (now <= Math.max(told, this.#calm.since(machine)) + this.#calm.aware) return 0
    // Of two that end at about the same time, one is told.
    return by ? until - this.#poll : until
  }

  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (!this.#plan || name !== 'writeBreaker' || answer !== true) return
    const { kind, name: queue, state } = args[0] as BreakerWrite
    if (kind !== 'rest' || state === null) return
    this.#restsOf(queue).push({ by: null, at: this.#world.now, until: storedRest(state) })
  }
}
