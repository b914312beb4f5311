import { isTriarchError } from '../error/error.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Amount } from '../kernel/wait/mail.ts'
import { unheard } from '../kernel/wait/mailbox.ts'
import { foldOf, readable } from '../scheduler/history.ts'
import type { StateStore } from '../store/port.ts'
import type { Known, Sending } from './terms.ts'

/** Tasks whose expectations are remembered. */
const MOST = 100

/** What a task waits for, and keeps unheard, as of a record. */
interface Expectation {
  last: number
  kept: Amount
  signals: ReadonlyMap<string, number>
  steps: ReadonlySet<number>
}

/**
 * What tasks wait for, by their histories: asked only where an inbox is full, for what is awaited finds room all the same.
 * Remembered while a task does not move, so that a flood of refused signals does not read its history again and again.
 */
export class AwaitedSignals {
  readonly #store: StateStore
  readonly #known = new Map<string, Promise<Expectation>>()

  constructor(store: StateStore) {
    this.#store = store
  }

  /** How many such letters the task waits for; and what it keeps. */
  async of(id: string, asking: Sending): Promise<Known> {
    const { signals, steps, kept, last } = await this.#current(id)
    const awaited = asking.type === 'event' ? (signals.get(asking.name) ?? 0) : Number(steps.has(asking.step))
    return { awaited, kept, last }
  }

  async #current(id: string): Promise<Expectation> {
    const known = this.#known.get(id)
    if (known !== undefined) {
      const expectation = await known
      const [newer] = await this.#store.records(id, expectation.last, 1)
      if (!newer) return expectation
      // Whoever found that first reads for all.
      if (this.#known.get(id) !== known) return this.#known.get(id) ?? this.#read(id)
    }
    return this.#read(id)
  }

  #read(id: string): Promise<Expectation> {
    const [oldest] = this.#known.keys()
    if (this.#known.size >= MOST && oldest !== undefined) this.#known.delete(oldest)
    const reading = this.#fold(id)
    this.#known.set(id, reading)
    reading.catch(() => this.#known.get(id) === reading && this.#known.delete(id))
    return reading
  }

  async #fold(id: string): Promise<Expectation> {
    const { events, last, broken } = await readable(this.#store, { id, quarantined: true })
    const nothing = { last, kept: { letters: Infinity, bytes: Infinity }, signals: new Map(), steps: new Set<number>() }
    if (broken) return nothing
    try {
      return { last, ...expectationOf(foldOf(id, events).state) }
    } catch (error) {
      if (isTriarchError(error, 'HISTORY_CORRUPT')) return nothing
      throw error
    }
  }
}

function expectationOf(state: TaskState): Omit<Expectation, 'last'> {
  const { waits, closing, steps, suspensions } = state
  const signals = new Map<string, number>()
  // One that stops hears nothing more.
  for (const { name } of closing ? [] : waits.values()) signals.set(name, (signals.get(name) ?? 0) + 1)
  const open = [...steps.values()].filter(
    ({ id, status }) => status === 'suspended' && (suspensions.get(id)?.queue.length ?? 0) === 0,
  )
  return { kept: unheard(state), signals, steps: new Set(open.map(({ id }) => id)) }
}
