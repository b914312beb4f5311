import type { Environment } from '../environment/environment.ts'
import type { Slots } from '../flow/slots.ts'
import type { StepRequest } from '../store/port.ts'
import type { Attempt } from './attempt.ts'

export interface AbandonedCodeOptions {
  environment: Environment
  slots: Slots
  /** Told when a slot was freed although its code still runs. */
  overrun: (request: StepRequest, ms: number) => void
}

/** Code that outlives its attempt keeps its slot for as long again as the attempt was given, but at least so long (ms). */
const LEAST = 10_000

/** Code that still runs though nobody waits for it: the slot is its own until it returns, within bounds. One that never does would close the agent. */
export class AbandonedCode {
  readonly #options: AbandonedCodeOptions
  /** What frees the slot of each. */
  readonly #running = new Map<Attempt, () => void>()
  /** Such code that was left to itself. */
  readonly #left = new Set<Attempt>()

  constructor(options: AbandonedCodeOptions) {
    this.#options = options
  }

  /** Those that nobody watches any more. */
  get left(): Iterable<Attempt> {
    return this.#left
  }

  /** `over`: told when its slot is free. */
  begin(running: Attempt, over: () => void = () => undefined): void {
    const { environment, slots, overrun } = this.#options
    const { request, completeBy } = running.order
    slots.take() // besides the one that is given back with the reply
    slots.count(request.action, request.rank)
    const free = () => {
      if (!this.#running.delete(running)) return
      timer.cancel()
      over()
      slots.release(request.action, request.rank)
    }
    const grace = Math.max(LEAST, completeBy - running.startedAt)
    const timer = environment.timer(grace, () => {
      free()
      overrun(request, environment.now() - running.startedAt)
    })
    this.#running.set(running, free)
    running.whenReturned(free)
    if (!slots.open) this.dismiss()
  }

  /** Nobody waits for them. */
  dismiss(): void {
    for (const [running, free] of [...this.#running]) {
      this.#left.add(running)
      free()
    }
  }
}
