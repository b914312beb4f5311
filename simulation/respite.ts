import { type Agent, TransientError } from '../packages/triarch/src/index.ts'
import { LONGEST_ANSWER } from '../packages/triarch/src/store/deadline.ts'
import type { BreakerWrite } from '../packages/triarch/src/store/port.ts'
import { restOf, restRow, storedRest } from '../packages/triarch/src/store/rest.ts'
import type { Call, Fate } from '../packages/triarch/src/testing/link.ts'
import type { Machine } from '../packages/triarch/src/testing/machine.ts'
import type { World } from '../packages/triarch/src/testing/world.ts'
import { laned } from './lane.ts'
import type { Plan } from './plan.ts'

/** Services without a rate limit that ask to be left alone: after how many attempts each, and for how long (ms). */
export interface RespitePlan {
  each: number
  ms: number
}

/** A node looks at least this often whether services rest (ms). */
const SILENCE = 1_000
/** Calls of a node, one after the other: those of a look and the reading, or of saying it three times. */
const ROUNDS = 6

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
  /** Until a node without trouble knows of what the store has, and until the store has what it was told (ms). */
  readonly #aware: number
  readonly #telling: number
  /** Of clocks of settled nodes (ms). */
  readonly #lag: number
  readonly #poll: number
  readonly #patience: number
  /** Those that are not over, by agent. */
  readonly #rests = new Map<string, Rest[]>()
  /** Since when nothing troubles a machine: what it asks of the store is answered in time, and it does not stand still. */
  readonly #calm = new Map<Machine, number>()
  readonly #calls = new Map<string, number>()
  readonly faults: string[] = []

  /** `clock`: the store's. */
  constructor(world: World, clock: { now(): number }, { respite, settings }: Plan) {
    const { poll, distance, patience = LONGEST_ANSWER } = settings
    this.#world = world
    this.#clock = clock
    this.#plan = respite ?? null
    this.#lag = 2 * distance + 2
    this.#telling = ROUNDS * this.#lag
    this.#aware = Math.max(SILENCE, poll) + 2 * poll + ROUNDS * this.#lag
    this.#poll = poll
    this.#patience = patience
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
      if (plan.ms > this.#poll && this.#isSettled(machine))
        this.#restsOf(name).push({ by: machine, at: this.#world.now, until: this.#clock.now() + plan.ms - this.#lag })
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
    if (by === machine) return at < now && this.#calmOf(machine) < at ? until : 0
    // Somebody without trouble who was asked has told the others.
    if (by && !(by.alive && this.#calmOf(by) < at)) return 0
    const told = by ? at + this.#telling : at
    if (now <= Math.max(told, this.#calmOf(machine)) + this.#aware) return 0
    // Of two that end at about the same time, one is told.
    return by ? until - this.#poll : until
  }

  #calmOf(machine: Machine): number {
    return this.#calm.get(machine) ?? Number.POSITIVE_INFINITY
  }

  /** It goes by the store's clock, and knows what the store has. */
  #isSettled(machine: Machine): boolean {
    return this.#calmOf(machine) + this.#aware < this.#world.now
  }

  /** What becomes of a call of this machine. */
  met({ machine }: Pick<Call, 'machine'>, { there, back, fault }: Fate): void {
    if (!this.#plan) return
    const silent = fault === 'swallowed' || fault === 'unanswered' ? 1.25 * this.#patience : 0
    const isNew = !this.#calm.has(machine)
    if (isNew || fault !== undefined || there + back > this.#lag) this.trouble(machine, there + back + silent)
  }

  /** It stands still for so long (ms), or something else is wrong with it. */
  trouble(machine: Machine, ms: number): void {
    this.#calm.set(machine, Math.max(this.#calm.get(machine) ?? 0, this.#world.now + ms))
  }

  readonly observe = ({ name, args }: Call, answer: unknown): void => {
    if (!this.#plan || name !== 'writeBreaker' || answer !== true) return
    const { name: row, state } = args[0] as BreakerWrite
    if (!row.startsWith(restRow('')) || state === null) return
    this.#restsOf(restOf(row)).push({ by: null, at: this.#world.now, until: storedRest(state) })
  }
}
