/** A request that failed. `retryable`: the same may succeed later. */
export class ExchangeError extends Error {
  readonly status: number
  /** How long the server asked to be left alone (ms). */
  readonly after: number

  constructor(message: string, status: number, after = 0, options: ErrorOptions = {}) {
    super(message, options)
    this.name = 'ExchangeError'
    this.status = status
    this.after = after
  }
}
