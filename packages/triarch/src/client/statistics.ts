import type { Counters } from '../node/node.ts'
import { type Figures, type FiguresQuery, figures, type RecountOptions, recountBy } from '../view/figures.ts'
import type { Statistics } from '../view/statistics.ts'
import { entryOf } from './act.ts'
import type { Connection } from './connection.ts'
import { type CountsChange, type WatchOptions, watchedBy } from './watcher.ts'

/**
 * Counts of what is in the store, and of what happened.
 * @example const { ready, work }: Statistics = await triarch.statistics.get()
 */
export interface StatisticsCollection {
  /**
   * Counts of what is in the store, and the counters of the answering process.
   * @example const { ready, work, stale } = await triarch.statistics.get()
   */
  get(): Promise<Statistics>

  /**
   * Hourly counts of histories, if a supervisor has `statistics` on: how often tasks, steps and attempts ended in which way, how long
   * they took, and how far behind the counting is. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const from = Date.now() - 86_400_000
   * const { rows, behind } = await triarch.statistics.figures({ by: ['workflow', 'outcome'], from })
   * for (const { workflow, outcome, count, p95 } of rows) console.log(workflow, outcome, count, p95)
   */
  figures(query: FiguresQuery): Promise<Figures>

  /**
   * Counts of what is in the store, now and after each change seen. Otherwise as `tasks.watch`.
   * @example for await (const change of triarch.statistics.watch({ quiet: '15s' })) console.log(change.type)
   */
  watch(options?: Pick<WatchOptions, 'quiet' | 'signal'>): AsyncIterableIterator<CountsChange>

  /**
   * Deletes all hourly counts: the supervisor gradually counts anew from the histories that still exist. It resumes after a crash, and
   * `figures` says how far it has come. Kept in the audit. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example await triarch.statistics.recount({ reason: 'tenants are told by another tag now' })
   */
  recount(options?: RecountOptions): Promise<void>
}

/** The counts of the store. */
export class StoredStatistics implements StatisticsCollection {
  readonly #connection: Connection
  readonly #counters: Counters

  constructor(connection: Connection, counters: Counters) {
    this.#connection = connection
    this.#counters = counters
  }

  async get(): Promise<Statistics> {
    await this.#connection.opened()
    return { ...(await this.#connection.store.counts()), ...this.#counters }
  }

  async figures(query: FiguresQuery): Promise<Figures> {
    await this.#connection.opened()
    return figures(this.#connection.store, query)
  }

  async *watch(options: Pick<WatchOptions, 'quiet' | 'signal'> = {}): AsyncIterableIterator<CountsChange> {
    const { quiet } = watchedBy('statistics.watch', options)
    await this.#connection.opened()
    const watcher = await this.#connection.live.watchCounts()
    yield* watcher.changes(quiet, options.signal) as AsyncIterableIterator<CountsChange>
  }

  async recount(options: RecountOptions = {}): Promise<void> {
    const why = recountBy(options)
    const { store, environment, opened } = this.#connection
    await opened()
    const act = { action: 'statistics.recount', subject: 'statistics:all', ...why }
    await store.recount({ audit: entryOf(environment, act) })
  }
}
