import type { Environment } from '../environment/environment.ts'
import type { Slots } from '../flow/slots.ts'
import type { StepRequest } from '../store/port.ts'
import type { Attempt } from './attempt.ts'

export interface AbandonedCodeOptions {
  environment: Environment
  slots: Slots
  /** Called when a slot was freed although its code still runs. */
  overrun: (request: StepRequest, ms: number) => void
}

/** Code that outlives its attempt keeps its slot for as long again as the attempt had, but at least this long (ms). */
const LEAST = 10_000

/**
 * Code that still runs after its attempt is over. It keeps its slot until it returns, within a limit: code that never returns would
 * otherwise block the agent for good.
 */
export class AbandonedCode {
  readonly #options: AbandonedCodeOptions
  /** For each attempt, the function that frees its slot. */
  readonly #running = new Map<Attempt, () => void>()
  /** Attempts whose slot was freed by `dismiss` although their code still ran. */
  readonly #left = new Set<Attempt>()

  constructor(options: AbandonedCodeOptions) {
    this.#options = options
  }

  get left(): Iterable<Attempt> {
    return this.#left
  }

  /** `over` is called when the slot is free. */
  begin(running: Attempt, over: () => void = () => undefined): void {
    const { environment, slots, overrun } = this.#options
    const { request, completeBy } = running.order
    slots.take() // one more than the slot that is freed with the reply
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

  /** Frees all slots without waiting for the code. */
  dismiss(): void {
    for (const [running, free] of [...this.#running]) {
      this.#left.add(running)
      free()
    }
  }
}
