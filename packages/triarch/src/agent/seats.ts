import { toConcurrency } from '../definition/concurrency.ts'
import type { Agent } from '../definition/definition.ts'
import type { SeatBound } from '../store/port.ts'

/** What of one agent runs at a time on all nodes together: its bounds, which the store keeps as requests are taken of the queue. */
export class Seats {
  readonly #agent: string
  /** The agent's under its name, those of its actions under theirs. */
  readonly #bounds = new Map<string, number>()

  constructor(name: string, agent: Agent | null) {
    this.#agent = name
    this.bound(name, agent?.shared ?? null)
    for (const { key, definition } of agent?.actions.values() ?? [])
      this.bound(key, toConcurrency(`${key}: concurrency`, definition.concurrency).shared)
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

  /** Actions with a bound of their own. */
  get limited(): string[] {
    return [...this.#bounds.keys()].filter((name) => name !== this.#agent)
  }

  /** Those over any action without one of its own (null), or over this one. */
  of(action: string | null): SeatBound[] {
    return [this.#agent, action].flatMap((name) => {
      const most = name === null ? undefined : this.#bounds.get(name)
      return name === null || most === undefined ? [] : [{ name, most }]
    })
  }
}
