import type { Environment, Timer } from '../environment/environment.ts'
import type { Telemetry } from '../telemetry/outlet.ts'

export interface RestingOptions {
  environment: Environment
  node: string
  telemetry: Telemetry
  /** Told when a rest is over. */
  over: () => void
}

/** Keys of one agent whose rests are known here: of more, those that were heard of first are forgotten. */
export const MOST_KEYS = 10_000

/** The services of one host that asked to be left alone: until when, by their queues. That of the agent's own stands for all of them. */
export class Resting {
  readonly #agent: string
  readonly #options: RestingOptions
  readonly #until = new Map<string, number>()
  #timer: Timer | null = null
  /** When it comes. */
  #due = 0

  constructor(agent: string, options: RestingOptions) {
    this.#agent = agent
    this.#options = options
  }

  /** Whether this service rests for so long already. */
  covers(queue: string, until: number): boolean {
    return until <= (this.#until.get(queue) ?? 0)
  }

  /** Nothing of this queue begins before then. */
  begin(queue: string, until: number): void {
    if (this.covers(queue, until)) return
    this.#until.set(queue, until)
    if (this.#until.size > MOST_KEYS) this.#forget()
    const { environment, node, telemetry } = this.#options
    const outlet = telemetry['agent:rests']
    if (outlet.open) outlet.tell({ at: environment.now(), node, agent: this.#agent, queue, until })
    if (this.#timer === null || until < this.#due) this.#wait(until)
  }

  /** Whether nothing of this queue may begin now. */
  isOn(queue: string): boolean {
    if (this.#until.size === 0) return false
    const now = this.#options.environment.now()
    return [this.#agent, queue].some((one) => (this.#until.get(one) ?? 0) > now)
  }

  close(): void {
    this.#timer?.cancel()
  }

  /** The rest of the whole agent is the last to be forgotten. */
  #forget(): void {
    for (const queue of this.#until.keys()) {
      if (queue === this.#agent) continue
      this.#until.delete(queue)
      return
    }
  }

  #wait(until: number): void {
    const { environment, over } = this.#options
    this.#timer?.cancel()
    this.#due = until
    this.#timer = environment.timer(Math.max(1, Math.ceil(until - environment.now())), () => {
      this.#timer = null
      const now = environment.now()
      let first = Number.POSITIVE_INFINITY
      for (const [queue, until] of this.#until)
        if (until <= now) this.#until.delete(queue)
        else first = Math.min(first, until)
      if (this.#until.size > 0) this.#wait(first)
      over()
    })
  }
}
