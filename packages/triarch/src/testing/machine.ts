import type { Environment, Timer } from '../environment/environment.ts'
import type { Network } from '../environment/network.ts'
import { uuidv7Source } from '../environment/uuid.ts'

/** The world of a machine: its time, randomness and events. */
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

/** The environment of one process in a simulated world. It has a clock of its own, and can crash or freeze. */
export class Machine implements Environment {
  readonly name: string
  readonly index: number
  readonly random: () => number
  readonly id: () => string
  /** False after a crash; then nothing of the machine happens any more. */
  alive = true
  /** The machine stands still until this instant of true time. */
  frozenUntil = 0
  skew: number
  network?: Network
  /** Called when the machine crashes. */
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

  /** Callbacks run in order, interleaved with those of other machines. */
  soon(callback: () => void): void {
    this.#soon.push(callback)
    this.#world.after(0, 'soon', () => this.#soon.shift()?.(), this)
  }

  drain(callback: () => void): void {
    this.#world.drained(this, callback)
  }

  /** Crashes the machine for good. Code that runs at this moment continues, but has no effect outside. */
  crash(): void {
    if (!this.alive) return
    this.alive = false
    this.#world.note(`${this.name} crashes`)
    this.crashed?.()
  }

  /** Freezes the machine: its timers, answers and promises wait while the world continues. */
  freeze(ms: number): void {
    this.frozenUntil = Math.max(this.frozenUntil, this.#world.now + ms)
    this.#world.note(`${this.name} stands still for ${ms} ms`)
  }
}
