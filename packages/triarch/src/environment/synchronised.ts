import type { Environment, Timer } from './environment.ts'

/** A clock that was read longer ago than this (ms) is read again before infrequent work relies on it. */
const OLD = 10_000
/** Largest relative drift between the clocks of two machines. */
const DRIFT = 0.0005

/**
 * An environment whose wall clock follows another one, the store's, which decides deadlines between nodes. It runs on monotonic time, so
 * that jumps of the machine's own clock have no effect, and it is never ahead: what is due here is due there.
 */
export class SynchronisedEnvironment implements Environment {
  readonly random: () => number
  readonly id: () => string
  readonly awaited?: NonNullable<Environment['awaited']>
  readonly #inner: Environment
  /** From monotonic time to the other clock (ms). */
  #offset: number
  #askedAt = Number.NEGATIVE_INFINITY
  /** How long the last reading took (ms). */
  #took = Number.POSITIVE_INFINITY

  constructor(inner: Environment) {
    this.#inner = inner
    this.random = () => inner.random()
    this.id = () => inner.id()
    if (inner.awaited) this.awaited = (task, result, bounded) => inner.awaited?.(task, result, bounded) ?? result
    this.#offset = inner.now() - inner.monotonic()
  }

  now(): number {
    return Math.floor(this.#inner.monotonic() + this.#offset)
  }

  /** Whether the last reading is so long ago that the clocks may have drifted, or the machine may have slept. */
  get old(): boolean {
    return this.age > OLD
  }

  /** Time since the last reading (ms). */
  get age(): number {
    return this.#inner.monotonic() - this.#askedAt
  }

  /** How far the other clock may be ahead of this one (ms); infinite: it was never read. */
  get lag(): number {
    return Number.isFinite(this.#took) ? this.#took + this.age * DRIFT + 1 : Number.POSITIVE_INFINITY
  }

  /** Reads the other clock. The answer is old by at most the time that the reading took. */
  async synchronise(ask: () => Promise<number>): Promise<void> {
    const asked = this.#inner.monotonic()
    const told = await ask()
    this.heard(asked, told, this.#inner.monotonic())
  }

  /** Takes a reading of the other clock: when it was requested, its value, and when the answer arrived. */
  heard(asked: number, told: number, answered: number): void {
    const behind = told - answered
    const first = this.#askedAt === Number.NEGATIVE_INFINITY
    const ahead = answered + this.#offset > told + (answered - asked)
    if (first || ahead || behind > this.#offset) this.#offset = behind
    this.#askedAt = asked
    this.#took = answered - asked
  }

  monotonic(): number {
    return this.#inner.monotonic()
  }

  timer(ms: number, callback: () => void): Timer {
    return this.#inner.timer(ms, callback)
  }

  soon(callback: () => void): void {
    this.#inner.soon(callback)
  }

  drain(callback: () => void): void {
    this.#inner.drain(callback)
  }
}
