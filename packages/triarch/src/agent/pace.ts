import type { Outcome } from '../kernel/message.ts'
import type { Allowance } from './allowance.ts'
import { retryAfterOfOutcome } from './verdict.ts'

/** The rate limits of one agent: its own, and those of its actions. */
export class Pace {
  readonly agent: string
  readonly #own: Allowance | null
  readonly #actions: ReadonlyMap<string, Allowance>

  constructor(agent: string, own: Allowance | null, actions: ReadonlyMap<string, Allowance>) {
    this.agent = agent
    this.#own = own
    this.#actions = actions
  }

  get all(): Allowance[] {
    return [...(this.#own ? [this.#own] : []), ...this.#actions.values()]
  }

  /** Actions that have a limit of their own. */
  get limited(): string[] {
    return [...this.#actions.keys()]
  }

  /** Attempts of whichever action may begin now. */
  get open(): boolean {
    return this.all.every(({ room }) => room > 0)
  }

  /** How many attempts may begin now, of any action without a limit of its own (null), or of this one. */
  room(action: string | null): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#of(action).map(({ room }) => room))
  }

  /** For an attempt that starts once its turn is recorded. False: it must wait in the queue. */
  promise(action: string): boolean {
    const all = this.#of(action)
    if (all.every(({ room, waiting }) => waiting === 0 && room > 0)) return all.every((it) => it.promise())
    for (const it of all) it.expect()
    return false
  }

  /** Null: the attempt begins. */
  meet(action: string): Outcome | null {
    const all = this.#of(action)
    if (all.every(({ open }) => open)) {
      for (const it of all) it.use()
      return null
    }
    for (const it of all) it.expect()
    return { kind: 'withdrawn', after: ASK_AGAIN, lane: this.agent }
  }

  ended(action: string, outcome: Outcome): void {
    const ms = retryAfterOfOutcome(outcome)
    if (ms > 0) for (const it of this.#of(action)) it.rest(ms)
  }

  #of(action: string | null): Allowance[] {
    const its = action === null ? undefined : this.#actions.get(action)
    return [...(this.#own ? [this.#own] : []), ...(its ? [its] : [])]
  }
}

/** A host of before rate limits that knows no lanes asks again after this (ms). */
const ASK_AGAIN = 1_000
