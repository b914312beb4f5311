import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'

export interface LostTailCheckOptions {
  environment: Environment
  scheduler: Scheduler
  /** Interval between two checks (ms). */
  every: number
  /** Called when acknowledged records are missing. */
  wentBack: () => Promise<void>
  failed: (error: unknown) => void
}

/** After a call without an answer, this many checks look for tasks that this node owns without knowing. */
const DOUBTS = 8

/** Checks regularly that the store still has what it acknowledged, and that the node knows all tasks it owns. */
export class LostTailCheck implements Service {
  readonly #options: LostTailCheckOptions
  #timer: Timer | null = null
  #open = false
  #doubts = 0

  constructor(options: LostTailCheckOptions) {
    this.#options = options
  }

  start(): void {
    this.#open = true
    this.#next()
  }

  stop(): void {
    this.#open = false
    this.#timer?.cancel()
  }

  async drain(): Promise<void> {
    // A check under way changes nothing any more.
  }

  abandon(): void {
    this.stop()
  }

  /** The store left a call unanswered and may still carry it out, for example give this node a task. */
  doubt(): void {
    this.#doubts = DOUBTS
  }

  #next(): void {
    const { environment, every, failed } = this.#options
    this.#timer = environment.timer(every, () => {
      this.#look()
        .catch(failed)
        .finally(() => {
          if (this.#open) this.#next()
        })
    })
  }

  async #look(): Promise<void> {
    const { lostTailDetector: witness, strays } = this.#options.scheduler
    if (await witness.isBehind()) await this.#options.wentBack()
    else await strays.look(witness.fresh || this.#doubts > 0)
    this.#doubts = Math.max(0, this.#doubts - 1)
  }
}
