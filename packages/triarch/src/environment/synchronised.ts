import type { Environment, Timer } from './environment.ts'

/** A clock asked longer ago than this is asked again before it is relied upon by somebody who seldom asks (ms). */
const OLD = 10_000
/** Clocks of two machines run apart by no more than this share. */
const DRIFT = 0.0005

/**
 * An environment whose wall clock follows another one, the store's: what decides deadlines between nodes. It runs on
 * monotonic time, so no jump of the machine's own clock reaches it, and it is never ahead: what is due here is due there.
 */
export class SynchronisedEnvironment implements Environment {
  readonly random: () => number
  readonly id: () => string
  readonly awaited?: NonNullable<Environment['awaited']>
  readonly #inner: Environment
  /** From monotonic time to the other's (ms). */
  #offset: number
  #askedAt = Number.NEGATIVE_INFINITY
  /** How long the last answer took (ms). */
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

  /** It was not asked for long, and may have drifted apart, or slept with its machine. */
  get old(): boolean {
    return this.age > OLD
  }

  /** How long ago it was asked (ms). */
  get age(): number {
    return this.#inner.monotonic() - this.#askedAt
  }

  /** How far the other clock may be ahead of this one (ms); infinite: it was never asked. */
  get lag(): number {
    return Number.isFinite(this.#took) ? this.#took + this.age * DRIFT + 1 : Number.POSITIVE_INFINITY
  }

  /** Asks the other clock. The answer is somewhat old when it comes, by at most the time the question took. */
  async synchronise(ask: () => Promise<number>): Promise<void> {
    const asked = this.#inner.monotonic()
    const told = await ask()
    this.heard(asked, told, this.#inner.monotonic())
  }

  /** What the other clock said, when it was asked and when the answer came. */
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
