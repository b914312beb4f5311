import type { Environment, ProcessIdentity, Timer } from './environment.ts'
import type { Network } from './network.ts'
import { systemEnvironment } from './system.ts'

/**
 * Wraps a user's environment so that the engine's loops can rely on it. The first failure of each method is reported: an error, a promise,
 * or an invalid value. Clocks then continue from their last value, `random` gives 0.5, `gone` false, and callbacks use the real environment.
 * Failures of `id` are passed to the caller.
 */
export class SteadyEnvironment implements Environment {
  readonly #inner: Environment
  readonly #failed: (error: unknown) => void
  readonly #told = new Set<keyof Environment>()
  /** Created on first use, because reading the machine's identity takes longer than most tasks of a simulation. */
  #real: Environment | null = null
  /** The difference between the wall clock and the monotonic clock. */
  #ahead = 0
  #monotonic = 0
  readonly hrtimeOrigin?: number
  readonly place?: ProcessIdentity
  readonly network?: Network
  readonly awaited?: NonNullable<Environment['awaited']>

  constructor(inner: Environment, failed: (error: unknown) => void) {
    this.#inner = inner
    this.#failed = failed
    if (inner.hrtimeOrigin !== undefined) this.hrtimeOrigin = inner.hrtimeOrigin
    if (inner.place) this.place = inner.place
    if (inner.network) this.network = inner.network
    if (inner.awaited) this.awaited = (task, result, bounded) => inner.awaited?.(task, result, bounded) ?? result
  }

  now(): number {
    const monotonic = this.monotonic()
    const now = this.#number('now', this.#ahead + monotonic)
    this.#ahead = now - monotonic
    return now
  }

  monotonic(): number {
    this.#monotonic = this.#number('monotonic', this.#monotonic)
    return this.#monotonic
  }

  random(): number {
    const number = this.#number('random', 0.5)
    return number >= 0 && number < 1 ? number : 0.5
  }

  gone(place: ProcessIdentity): boolean {
    return this.#try('gone', () => this.#inner.gone?.(place) === true) ?? false
  }

  id(): string {
    return this.#inner.id()
  }

  timer(ms: number, callback: () => void): Timer {
    const once = onlyOnce(callback)
    const timer = this.#try('timer', () => this.#inner.timer(ms, once))
    if (typeof timer?.cancel === 'function') return timer
    if (timer !== undefined) this.#tell('timer', new TypeError('environment.timer() gave no timer'))
    return this.#system.timer(ms, once)
  }

  soon(callback: () => void): void {
    const once = onlyOnce(callback)
    if (!this.#try('soon', () => this.#inner.soon(once) ?? true)) this.#system.soon(once)
  }

  drain(callback: () => void): void {
    const once = onlyOnce(callback)
    if (!this.#try('drain', () => this.#inner.drain(once) ?? true)) this.#system.drain(once)
  }

  get #system(): Environment {
    this.#real ??= systemEnvironment()
    return this.#real
  }

  #number(name: 'now' | 'monotonic' | 'random', otherwise: number): number {
    const number = this.#try(name, () => this.#inner[name]())
    if (Number.isFinite(number)) return number as number
    if (number !== undefined) this.#tell(name, new TypeError(`environment.${name}() gave no number`))
    return otherwise
  }

  #try<T>(name: keyof Environment, work: () => T): T | undefined {
    try {
      const answer = work()
      const promised = (answer as PromiseLike<unknown> | undefined)?.then
      if (typeof promised !== 'function') return answer
      Promise.resolve(answer).catch(() => undefined)
      throw new TypeError(`environment.${name}() gave a promise`)
    } catch (error) {
      this.#tell(name, error)
      return undefined
    }
  }

  #tell(name: keyof Environment, error: unknown): void {
    if (this.#told.has(name)) return
    this.#told.add(name)
    this.#failed(error)
  }
}

/** The callback may have been accepted although the method failed, so it must not run twice. */
function onlyOnce(callback: () => void): () => void {
  let called = false
  return () => {
    if (called) return
    called = true
    callback()
  }
}
