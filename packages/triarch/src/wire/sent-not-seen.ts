import type { Environment } from '../environment/environment.ts'
import type { AgentResponse } from './message.ts'

/** When what is heard on a connection had not been said yet, by what the other side had heard of this one when it said it. */
export class SentNotSeen {
  readonly #environment: Pick<Environment, 'monotonic'>
  /** When each frame was sent that the other side has not heard, as far as known; how many were before those. */
  readonly #saidAt: number[] = []
  #before = 0

  constructor(environment: Pick<Environment, 'monotonic'>) {
    this.#environment = environment
  }

  /** A frame goes out. */
  said(): void {
    this.#saidAt.push(this.#environment.monotonic())
  }

  /** By the monotonic clock; undefined: nobody can tell. */
  since({ heard, after = 0 }: AgentResponse): number | undefined {
    if (heard === undefined) {
      this.#saidAt.length = 0
      return undefined
    }
    // The last frame that it had heard stays: what is said next may have heard no more.
    const passed = Math.min(heard - 1 - this.#before, this.#saidAt.length - 1)
    if (passed > 0) this.#before += this.#saidAt.splice(0, passed).length
    const [saidAt] = this.#saidAt
    return saidAt === undefined ? undefined : saidAt + after
  }
}
