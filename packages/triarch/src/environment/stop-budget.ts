import type { Environment, Timer } from './environment.ts'

/** How long a stopping node waits for one answer of a slow store (ms); after that, its lease expires by itself. */
export const STORE_ANSWER_BUDGET_MS = 5_000

/** Time limits of a stopping process, which waits for what it hands back, but not without end. */
export class StopBudget {
  readonly #environment: Environment
  readonly #failed: (error: unknown) => void
  readonly #over = Promise.withResolvers<void>()

  constructor(environment: Environment, failed: (error: unknown) => void) {
    this.#environment = environment
    this.#failed = failed
  }

  /** Awaits the work for at most `ms`. A failure is ignored, so that everything else is still handed back. */
  async wait(work: Promise<unknown> | undefined, ms: number): Promise<void> {
    let timer: Timer | undefined
    const late = new Promise<void>((resolve) => {
      timer = this.#environment.timer(ms, resolve)
    })
    await Promise.race([work?.catch(this.#failed), late, this.#over.promise])
    timer?.cancel()
  }

  /** Ends all waits at once; what they waited for counts as lost. */
  end(): void {
    this.#over.resolve()
  }
}
