import { LONGEST_ANSWER } from '../../packages/triarch/src/store/deadline.ts'
import type { CallInterference, LinkCall } from '../../packages/triarch/src/testing/link.ts'
import type { Machine } from '../../packages/triarch/src/testing/machine.ts'
import type { World } from '../../packages/triarch/src/testing/world.ts'
import type { Plan } from './plan.ts'

/** A node looks at least this often what others did (ms). */
const SILENCE = 1_000
/** Calls of a node, one after the other: those of a look and of a reading, or of saying it three times. */
const ROUNDS = 6

/** Since when nothing troubles a machine: what it asks of the store is answered in time, and it does not stand still. */
export class Calm {
  /** How far the clocks of machines are from the store's (ms). */
  readonly lag: number
  /** Until the store has what a machine was told (ms). */
  readonly telling: number
  /** Until a machine has read what the store has (ms). */
  readonly aware: number
  readonly #world: World
  readonly #patience: number
  readonly #since = new Map<Machine, number>()

  constructor(world: World, { settings }: Plan) {
    const { poll, distance, patience = LONGEST_ANSWER } = settings
    this.#world = world
    this.#patience = patience
    this.lag = 2 * distance + 2
    this.telling = ROUNDS * this.lag
    this.aware = Math.max(SILENCE, poll) + 2 * poll + ROUNDS * this.lag
  }

  /** In true time; infinite: it has not begun. */
  since(machine: Machine): number {
    return this.#since.get(machine) ?? Number.POSITIVE_INFINITY
  }

  /** It goes by the store's clock, and knows what the store has. */
  isSettled(machine: Machine): boolean {
    return this.since(machine) + this.aware < this.#world.now
  }

  /** What becomes of a call of this machine. */
  met({ machine }: Pick<LinkCall, 'machine'>, { there, back, fault, again = 0 }: CallInterference): void {
    const unheard = fault === 'swallowed' || fault === 'unanswered' ? 1.25 * this.#patience : 0
    // Of a call that comes twice the second answer counts.
    const silent = fault === 'twice' ? again : unheard
    const isNew = !this.#since.has(machine)
    if (isNew || fault !== undefined || there + back > this.lag) this.trouble(machine, there + back + silent)
  }

  /** It stands still for so long (ms), or something else is wrong with it. */
  trouble(machine: Machine, ms: number): void {
    this.#since.set(machine, Math.max(this.#since.get(machine) ?? 0, this.#world.now + ms))
  }
}
