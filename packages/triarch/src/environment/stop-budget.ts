import type { Environment, Timer } from './environment.ts'

/** How long a node that stops waits for an answer of a slow store to one question: its lease then does the rest (ms). */
export const STORE_ANSWER_BUDGET_MS = 5_000

/** Of a process that stops: it waits for what it hands back, but for nothing without end. */
export class StopBudget {
  readonly #environment: Environment
  readonly #failed: (error: unknown) => void
  readonly #over = Promise.withResolvers<void>()

  constructor(environment: Environment, failed: (error: unknown) => void) {
    this.#environment = environment
    this.#failed = failed
  }

  /** Waits for the work, for at most `ms`. What fails keeps nothing else from being handed back. */
  async wait(work: Promise<unknown> | undefined, ms: number): Promise<void> {
    let timer: Timer | undefined
    const late = new Promise<void>((resolve) => {
      timer = this.#environment.timer(ms, resolve)
    })
    await Promise.race([work?.catch(this.#failed), late, this.#over.promise])
    timer?.cancel()
  }

  /** What is still waited for is left behind as lost, at once. */
  end(): void {
    this.#over.resolve()
  }
}
