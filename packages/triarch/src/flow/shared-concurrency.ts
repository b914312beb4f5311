import { toConcurrency } from '../definition/concurrency.ts'
import type { Agent } from '../definition/definition.ts'
import { KEYED } from '../store/breaker.ts'
import type { PermitLimit } from '../store/port.ts'

/**
 * The concurrency limits of one agent and its actions that hold over all nodes together. The store keeps them when a request is taken from the
 * queue; this class knows which limits there are and what they are called.
 */
export class SharedConcurrency {
  readonly #agent: string
  /** By the name of the agent or of an action. */
  readonly #limits = new Map<string, number>()
  /** Names whose limit holds for each key apart. */
  readonly #keyed = new Set<string>()

  constructor(name: string, agent: Agent | null) {
    this.#agent = name
    this.setLimit(name, agent?.shared ?? null)
    if (agent?.sharedKey) this.#keyed.add(name)
    for (const { key, definition } of agent?.actions.values() ?? []) {
      const { shared, keyed } = toConcurrency(`${key}: concurrency`, definition.concurrency)
      this.setLimit(key, shared)
      if (keyed) this.#keyed.add(key)
    }
  }

  /** Changes a limit; null removes it. Returns whether more attempts may run than before. */
  setLimit(name: string, most: number | null): boolean {
    const before = this.#limits.get(name) ?? Number.POSITIVE_INFINITY
    if (most === null) this.#limits.delete(name)
    else this.#limits.set(name, most)
    return (most ?? Number.POSITIVE_INFINITY) > before
  }

  get isUnlimited(): boolean {
    return this.#limits.size === 0
  }

  /** The limit of the whole agent; null: there is none, or one for each key. */
  get shared(): number | null {
    return this.#keyed.has(this.#agent) ? null : (this.#limits.get(this.#agent) ?? null)
  }

  /** Actions with a limit of their own. */
  get limitedActions(): string[] {
    return [...this.#limits.keys()].filter((name) => name !== this.#agent)
  }

  /** Whether attempts of the action need permits. */
  isLimited(action: string): boolean {
    return this.#limits.has(this.#agent) || this.#limits.has(action)
  }

  /** Whether attempts of the action need permits of their key. */
  isKeyed(action: string): boolean {
    return [this.#agent, action].some((name) => this.#keyed.has(name) && this.#limits.has(name))
  }

  /** The limits that a request taken from `queue` counts against. `action` is null for actions without a limit of their own. */
  limitsFor(action: string | null, queue: string): PermitLimit[] {
    return [this.#agent, action].flatMap((name) => {
      const most = name === null ? undefined : this.#limits.get(name)
      if (name === null || most === undefined) return []
      const at = queue.indexOf(KEYED)
      if (!this.#keyed.has(name)) return [{ name, most }]
      // Requests in a queue without a key have a key that is not known yet: each is given back, to the queue of its key.
      return at < 0 ? [] : [{ name: name + queue.slice(at), most }]
    })
  }
}
