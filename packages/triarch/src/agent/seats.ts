import { toConcurrency } from '../definition/concurrency.ts'
import type { Agent } from '../definition/definition.ts'
import { KEYED } from '../store/breaker.ts'
import type { SeatBound } from '../store/port.ts'

/** What of one agent runs at a time on all nodes together: its bounds, which the store keeps as requests are taken of the queue. */
export class Seats {
  readonly #agent: string
  /** The agent's under its name, those of its actions under theirs. */
  readonly #bounds = new Map<string, number>()
  /** Of these there is one for each key. */
  readonly #keyed = new Set<string>()

  constructor(name: string, agent: Agent | null) {
    this.#agent = name
    this.bound(name, agent?.shared ?? null)
    if (agent?.sharedKey) this.#keyed.add(name)
    for (const { key, definition } of agent?.actions.values() ?? []) {
      const { shared, keyed } = toConcurrency(`${key}: concurrency`, definition.concurrency)
      this.bound(key, shared)
      if (keyed) this.#keyed.add(key)
    }
  }

  /** From now on so many; null: as many as there are slots. True: more than before. */
  bound(name: string, most: number | null): boolean {
    const before = this.#bounds.get(name) ?? Number.POSITIVE_INFINITY
    if (most === null) this.#bounds.delete(name)
    else this.#bounds.set(name, most)
    return (most ?? Number.POSITIVE_INFINITY) > before
  }

  get none(): boolean {
    return this.#bounds.size === 0
  }

  /** The bound that all attempts of the agent share; null: there is none, or one for each key. */
  get shared(): number | null {
    return this.#keyed.has(this.#agent) ? null : (this.#bounds.get(this.#agent) ?? null)
  }

  /** Actions with a bound of their own. */
  get limited(): string[] {
    return [...this.#bounds.keys()].filter((name) => name !== this.#agent)
  }

  /** Whether attempts of the action need seats. */
  isBound(action: string): boolean {
    return this.#bounds.has(this.#agent) || this.#bounds.has(action)
  }

  /** Whether they need seats by their key. */
  isKeyed(action: string): boolean {
    return [this.#agent, action].some((name) => this.#keyed.has(name) && this.#bounds.has(name))
  }

  /** Those over what waits in this queue, of any action without one of its own (null), or of this one. */
  of(action: string | null, queue: string): SeatBound[] {
    return [this.#agent, action].flatMap((name) => {
      const most = name === null ? undefined : this.#bounds.get(name)
      if (name === null || most === undefined) return []
      const at = queue.indexOf(KEYED)
      if (!this.#keyed.has(name)) return [{ name, most }]
      // Nobody knows the key of what waits there: each is given back to the queue of its own.
      return at < 0 ? [] : [{ name: name + queue.slice(at), most }]
    })
  }
}
