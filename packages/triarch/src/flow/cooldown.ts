import type { Environment, Timer } from '../environment/environment.ts'
import type { Telemetry } from '../telemetry/outlet.ts'

export interface CooldownOptions {
  environment: Environment
  node: string
  telemetry: Telemetry
  /** Called when a cooldown is over. */
  over: () => void
}

/** The cooldowns by key that one process remembers of an agent; beyond, the oldest are forgotten. */
export const MAX_COOLDOWN_KEYS = 10_000

/** The cooldowns (`Retry-After`) of one agent in this process, by queue. A cooldown of the agent's own queue holds for all its queues. */
export class Cooldown {
  readonly #agent: string
  readonly #options: CooldownOptions
  readonly #until = new Map<string, number>()
  #timer: Timer | null = null
  /** When the timer fires, by the store's clock (ms). */
  #due = 0

  constructor(agent: string, options: CooldownOptions) {
    this.#agent = agent
    this.#options = options
  }

  /** Whether the queue has a cooldown until then or later. */
  covers(queue: string, until: number): boolean {
    return until <= (this.#until.get(queue) ?? 0)
  }

  /** No attempt of this queue begins before `until` (store's clock, ms). */
  begin(queue: string, until: number): void {
    if (this.covers(queue, until)) return
    this.#until.set(queue, until)
    if (this.#until.size > MAX_COOLDOWN_KEYS) this.#forget()
    const { environment, node, telemetry } = this.#options
    const outlet = telemetry['agent:rests']
    if (outlet.open) outlet.tell({ at: environment.now(), node, agent: this.#agent, queue, until })
    if (this.#timer === null || until < this.#due) this.#wait(until)
  }

  /** Whether no attempt of this queue may begin now. */
  isOn(queue: string): boolean {
    if (this.#until.size === 0) return false
    const now = this.#options.environment.now()
    return [this.#agent, queue].some((one) => (this.#until.get(one) ?? 0) > now)
  }

  close(): void {
    this.#timer?.cancel()
  }

  /** Forgets the oldest cooldown of a key; the agent's own is kept. */
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
