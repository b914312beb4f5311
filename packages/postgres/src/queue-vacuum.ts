import type { Environment } from 'triarch/store'
import type { Row } from './query.ts'
import type { Statement } from './slot.ts'

/** Tables that every request and message passes through, and in which few rows stay. */
const QUEUES = ['inbox', 'work'] as const
/** A table is vacuumed from this many dead rows on plus a fifth of the living ones, as autovacuum does. */
const WORTH = 10_000
/** The least interval between two vacuums (ms), and the greatest if they do not help. */
const FIRST_WAIT = 1_000
const LONGEST_WAIT = 60_000

const named = QUEUES.map((name) => `('${name}', 'triarch.${name}'::regclass)`).join(', ')
/** Returns the tables with that many dead rows; null: none. */
export const LITTERED: string = `
(SELECT string_agg(q.name, ' ') FROM (VALUES ${named}) AS q (name, id)
  WHERE pg_stat_get_dead_tuples(q.id) >= ${WORTH} + pg_stat_get_live_tuples(q.id) / 5)`

/**
 * Vacuums the queues while many rows pass through them. A call that takes the first request of a queue, or reads
 * messages, walks over all rows that were taken before and are not vacuumed yet; and autovacuum checks a database only
 * once a minute, whatever is set for a table. So the leader vacuums with its sweeps, on a connection for users' reads,
 * and for as long as a read may take. Nothing depends on it: if it is not allowed, fails, takes too long, or does not
 * help because a snapshot is open somewhere, it is tried less and less often, and autovacuum remains.
 */
export class QueueVacuum {
  readonly #environment: Environment
  readonly #ask: (statement: Statement) => Promise<Row[]>
  readonly #statements: Readonly<Record<'vacuum' | 'littered', Statement>>
  #under: Promise<void> | null = null
  #wait = FIRST_WAIT
  #notBefore = Number.NEGATIVE_INFINITY

  /** `sql`: puts the schema into a statement. */
  constructor(environment: Environment, sql: (text: string) => string, ask: (statement: Statement) => Promise<Row[]>) {
    this.#environment = environment
    this.#ask = ask
    // Truncating the file would gain nothing for waiting calls and would need an exclusive lock.
    const options = 'SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP true'
    const tables = QUEUES.map((name) => `triarch.${name}`).join(', ')
    this.#statements = {
      vacuum: { name: '', sql: sql(`VACUUM (${options}) ${tables}`), numbered: false },
      littered: { name: '', sql: sql(`SELECT ${LITTERED}`), numbered: false },
    }
  }

  /**
   * Called when tables need a vacuum: starts one, unless one is under way or the last was too recent. Resolves when the
   * one that is under way is over.
   */
  sweep(): Promise<void> {
    if (this.#under === null && this.#environment.monotonic() >= this.#notBefore) {
      this.#under = this.#run().finally(() => {
        this.#under = null
      })
    }
    return this.#under ?? Promise.resolve()
  }

  async #run(): Promise<void> {
    let helped = false
    try {
      await this.#ask(this.#statements.vacuum)
      helped = (await this.#ask(this.#statements.littered))[0]?.[0] === null
    } catch {
      // The store's own calls report what is wrong with it.
    }
    this.#wait = helped ? FIRST_WAIT : Math.min(this.#wait * 2, LONGEST_WAIT)
    this.#notBefore = this.#environment.monotonic() + this.#wait
  }
}
