import { isTriarchError } from '../error/error.ts'
import type { TaskState } from '../kernel/state.ts'
import type { Amount } from '../kernel/wait/buffered-signal.ts'
import { unreadSignals } from '../kernel/wait/mailbox.ts'
import { foldOf, readHistoryPart } from '../scheduler/history.ts'
import type { StateStore } from '../store/port.ts'
import type { HistoryUse, Sending } from './terms.ts'

/** Most tasks remembered. */
const MOST = 100

/** What a task waits for, and the unread signals it keeps, as of a record. */
interface Expectation {
  last: number
  kept: Amount
  signals: ReadonlyMap<string, number>
  steps: ReadonlySet<number>
}

/**
 * The signals that tasks wait for, from their histories. Read only if an inbox is full, because an awaited signal is accepted all the
 * same. Remembered until the task moves, so that a flood of refused signals does not read its history repeatedly.
 */
export class AwaitedSignals {
  readonly #store: StateStore
  readonly #known = new Map<string, Promise<Expectation>>()

  constructor(store: StateStore) {
    this.#store = store
  }

  /** How many such signals the task waits for, and how much it keeps. */
  async of(id: string, asking: Sending): Promise<HistoryUse> {
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
      // The first caller that notices a newer record reads for all.
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
    const { events, last, broken } = await readHistoryPart(this.#store, { id, quarantined: true })
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
  // A task that is closing takes no more signals.
  for (const { name } of closing ? [] : waits.values()) signals.set(name, (signals.get(name) ?? 0) + 1)
  const open = [...steps.values()].filter(
    ({ id, status }) => status === 'suspended' && (suspensions.get(id)?.queue.length ?? 0) === 0,
  )
  return { kept: unreadSignals(state), signals, steps: new Set(open.map(({ id }) => id)) }
}
