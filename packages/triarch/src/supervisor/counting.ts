import type { Environment } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import type { TaskEvent } from '../kernel/event.ts'
import { followingOf, followingText, mergedTallies, tally } from '../statistics/tally.ts'
import type { CountedTask, FollowedTask, StateStore, Tally } from '../store/port.ts'
import { outlineIn } from '../store/record.ts'

/** How histories are counted. */
export interface CountingOptions {
  /** The tag that identifies tenants; null: none. */
  tag: string | null
  /** How long hourly counts are kept (ms). */
  keep: number
}

/** Limits of one round, so that none occupies the store for long: tasks inspected, tasks read, records and bytes of each. */
const BOUNDS = { look: 2_000, limit: 100, records: 500, bytes: 1_000_000 }
/** Tasks read in parallel. */
const READ_AT_ONCE = 4
/** Clock differences up to this are tolerated when deciding whether a stopped task belongs to a lap (ms). */
const MARGIN = 5_000

interface CounterOptions {
  environment: Pick<Environment, 'monotonic' | 'now'>
  store: Pick<StateStore, 'readUncounted' | 'tally' | 'records'>
  statistics?: CountingOptions | null
}

/**
 * Counts the events of histories, each record once, in laps over the tasks that have made progress. The position is stored per task: a
 * history has no gaps, so a record that commits late is the last of its task or the first of a new one.
 */
export class Counting {
  readonly #means: CounterOptions
  /** Where the next page of this lap begins; 0: a new lap begins. */
  #after = 0
  #audit = 0
  /** When this lap began, by the store's clock and by this process's; null: the end of this lap does not show what is counted. */
  #lap: { at: number; monotonic: number } | null = null
  /** When the last completed lap began (monotonic, ms); null: none is complete. */
  #complete: number | null = null

  constructor(means: CounterOptions) {
    this.#means = means
  }

  /** Tasks that stopped within this time may not be counted yet (ms); 0: nothing is counted. */
  get uncounted(): number {
    const { environment, statistics } = this.#means
    if (!statistics) return 0
    return this.#complete === null ? Number.POSITIVE_INFINITY : environment.monotonic() - this.#complete + MARGIN
  }

  /** Counts one page; resolves to whether there is more to count at once. */
  async count(leadership: { name: string; token: number }): Promise<boolean> {
    const { environment, store, statistics } = this.#means
    if (!statistics) return false
    const began = environment.monotonic()
    const place = { after: this.#after, audit: this.#audit }
    const page = await store.readUncounted({ ...leadership, ...place, look: BOUNDS.look, limit: BOUNDS.limit })
    if (!page) return this.#anew()
    if (page.anew) {
      this.#complete = null
      this.#anew()
      return true
    }
    if (this.#after === 0) this.#lap = page.behind ? null : { at: page.at, monotonic: began }
    const tasks: CountedTask[] = []
    const tallies: Tally[] = []
    let next = page.next
    for (let from = 0; from < page.tasks.length; from += READ_AT_ONCE) {
      const some = page.tasks.slice(from, from + READ_AT_ONCE)
      for (const one of await Promise.all(some.map((it) => this.#read(it, statistics.tag)))) {
        if (!one) continue
        tasks.push(one.task)
        tallies.push(...one.tallies)
        // The task has more records, so the lap continues with it.
        if (one.more) next = Math.min(next ?? Number.MAX_SAFE_INTEGER, one.task.key - 1)
      }
    }
    const over = next === null
    const asOf = over ? (this.#lap?.at ?? null) : null
    if (tasks.length > 0 || over) {
      const keepFrom = page.at - statistics.keep
      const done = await store.tally({ ...leadership, tasks, tallies: mergedTallies(tallies), asOf, keepFrom })
      if (!done) return this.#anew()
    }
    this.#audit = page.audited
    if (over && this.#lap) this.#complete = this.#lap.monotonic
    this.#after = next ?? 0
    return !over || (this.#after === 0 && this.#lap === null)
  }

  /** Starts anew: another node leads, or has counted meanwhile. */
  #anew(): false {
    this.#after = 0
    this.#lap = null
    return false
  }

  /** Reads and counts the next records of a task. Null: this node cannot read them now, and may later. */
  async #read(
    { key, id, seq, state }: FollowedTask,
    tag: string | null,
  ): Promise<{ task: CountedTask; tallies: Tally[]; more: boolean } | null> {
    const { records: most, bytes } = BOUNDS
    const records = await this.#means.store.records(id, seq, { records: most, bytes })
    const following = followingOf(state)
    const tallies: Tally[] = []
    let last = seq
    let size = 0
    for (const record of records) {
      const events = record.undecoded ? null : legible(record.events, record.seq)
      if (events === null) break
      tallies.push(...tally(following, record.at, events, tag ?? undefined))
      last = record.seq
      size += record.stored ?? Buffer.byteLength(record.events)
    }
    if (last === seq) return null
    const more = last === records.at(-1)?.seq && (records.length >= most || size >= bytes)
    const task = { key, from: seq, seq: last, state: followingText(following), done: following.stopped && !more }
    return { task, tallies, more }
  }
}

/** The events of a record. Empty if the record is corrupt; null if this version does not know its format. */
function legible(text: string, seq: number): TaskEvent[] | null {
  try {
    return outlineIn(text, seq)
  } catch (error) {
    return isTriarchError(error, 'HISTORY_CORRUPT') ? [] : null
  }
}
