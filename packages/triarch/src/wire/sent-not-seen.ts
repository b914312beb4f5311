import type { Environment } from '../environment/environment.ts'
import type { AgentResponse } from './message.ts'

/** Computes the earliest time at which a received frame was sent, from what the other side had received of this side by then. */
export class SentNotSeen {
  readonly #environment: Pick<Environment, 'monotonic'>
  /** The send times of frames that the other side may not have received; and how many frames came before those. */
  readonly #saidAt: number[] = []
  #before = 0

  constructor(environment: Pick<Environment, 'monotonic'>) {
    this.#environment = environment
  }

  /** A frame is sent. */
  said(): void {
    this.#saidAt.push(this.#environment.monotonic())
  }

  /** A time (monotonic clock) at which the response had certainly not been sent yet; undefined: not known. */
  since({ heard, after = 0 }: AgentResponse): number | undefined {
    if (heard === undefined) {
      this.#saidAt.length = 0
      return undefined
    }
    // The last frame that it had received stays, because its next response may still refer to it.
    const passed = Math.min(heard - 1 - this.#before, this.#saidAt.length - 1)
    if (passed > 0) this.#before += this.#saidAt.splice(0, passed).length
    const [saidAt] = this.#saidAt
    return saidAt === undefined ? undefined : saidAt + after
  }
}
