import type { Environment } from '../environment/environment.ts'
import { owned } from '../environment/owner.ts'
import { unhandled } from '../error/unhandled.ts'

/**
 * Limits how long user code is awaited, and calls it once at a time: code that never answers costs one pending call and delays nothing
 * else.
 */
export class Bound {
  readonly #environment: Pick<Environment, 'timer'>
  readonly #timeout: number
  readonly #failed: (error: unknown) => void
  #silent = false

  /** `failed` gets errors that the code leaves unhandled. */
  constructor(environment: Pick<Environment, 'timer'>, timeout: number, failed: (error: unknown) => void) {
    this.#environment = environment
    this.#timeout = timeout
    this.#failed = failed
  }

  /** Rejects with the error of the work, and also if it does not answer in time, or has not answered an earlier call yet. */
  async run<T>(work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    if (this.#silent) throw new Error('it has not answered an earlier call yet')
    this.#silent = true
    const over = new AbortController()
    const left = (error: unknown) => this.#failed(unhandled('code of an alert', error))
    const answer = owned({ left }, async () => work(over.signal)).finally(() => {
      this.#silent = false
    })
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = this.#environment.timer(this.#timeout, () => {
      const reason = new Error(`no answer within ${this.#timeout} ms`)
      reject(reason)
      over.abort(reason)
    })
    timer.unref?.()
    try {
      return await Promise.race([answer, late])
    } finally {
      timer.cancel()
    }
  }
}
