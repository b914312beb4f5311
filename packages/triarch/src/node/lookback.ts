import type { Environment, Timer } from '../environment/environment.ts'
import type { Service } from '../environment/service.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'

export interface LookbackOptions {
  environment: Environment
  scheduler: Scheduler
  /** Distance between two looks (ms). */
  every: number
  /** Records that were acknowledged are not there any more. */
  wentBack: () => Promise<void>
  failed: (error: unknown) => void
}

/** After a call without an answer so many looks are taken for tasks that are this node's without its knowledge. */
const DOUBTS = 8

/** Makes sure now and then that the store still has what it acknowledged, and that the node knows of all tasks that are its own. */
export class Lookback implements Service {
  readonly #options: LookbackOptions
  #timer: Timer | null = null
  #open = false
  #doubts = 0

  constructor(options: LookbackOptions) {
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
    // A look that is under way changes nothing any more.
  }

  abandon(): void {
    this.stop()
  }

  /** The store left a call unanswered, and may do yet what it was asked: give this node a task, for one. */
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
    const { witness, strays } = this.#options.scheduler
    if (await witness.isBehind()) await this.#options.wentBack()
    else await strays.look(witness.fresh || this.#doubts > 0)
    this.#doubts = Math.max(0, this.#doubts - 1)
  }
}
