import type { Environment, Timer } from '../environment/environment.ts'
import type { Network } from '../environment/network.ts'
import { uuidv7Source } from '../environment/uuid.ts'

/** What a machine is in: time, chance, and what happens. */
export interface Universe {
  readonly now: number
  readonly random: () => number
  below(bound: number): number
  after(ms: number, label: string, callback: () => void, machine: Machine): Timer
  drained(machine: Machine, callback: () => void): void
  note(text: string): void
}

export interface MachineOptions {
  /** How far its wall clock is ahead of true time (ms); 0. */
  skew?: number
  /** Its timers fire up to this much late (ms); 0. Never early. */
  lateness?: number
}

/** The environment of one process in a world of several: dies with it, stands still with it, has a clock of its own. */
export class Machine implements Environment {
  readonly name: string
  readonly index: number
  readonly random: () => number
  readonly id: () => string
  /** False once it crashed: nothing of it happens any more. */
  alive = true
  /** It stands still until this instant of true time. */
  frozenUntil = 0
  skew: number
  network?: Network
  /** Told when it crashes. */
  crashed?: () => void
  readonly #world: Universe
  readonly #born: number
  readonly #lateness: number
  readonly #soon: (() => void)[] = []

  constructor(world: Universe, name: string, { skew = 0, lateness = 0, index }: MachineOptions & { index: number }) {
    this.#world = world
    this.name = name
    this.index = index
    this.skew = skew
    this.#lateness = lateness
    this.#born = world.now
    this.random = world.random
    this.id = uuidv7Source(() => this.now(), world.random)
  }

  now(): number {
    return this.#world.now + this.skew
  }

  monotonic(): number {
    return this.#world.now - this.#born
  }

  timer(ms: number, callback: () => void): Timer {
    const late = this.#lateness > 0 ? this.#world.below(this.#lateness + 1) : 0
    return this.#world.after(Math.max(0, Math.ceil(ms)) + late, 'timer', callback, this)
  }

  /** In the order asked for, with whatever other machines do in between. */
  soon(callback: () => void): void {
    this.#soon.push(callback)
    this.#world.after(0, 'soon', () => this.#soon.shift()?.(), this)
  }

  drain(callback: () => void): void {
    this.#world.drained(this, callback)
  }

  /** Cuts it off for good. What it runs at this moment computes on, but reaches nobody. */
  crash(): void {
    if (!this.alive) return
    this.alive = false
    this.#world.note(`${this.name} crashes`)
    this.crashed?.()
  }

  /** Stands still: its timers, answers and promises wait, the world does not. */
  freeze(ms: number): void {
    this.frozenUntil = Math.max(this.frozenUntil, this.#world.now + ms)
    this.#world.note(`${this.name} stands still for ${ms} ms`)
  }
}
