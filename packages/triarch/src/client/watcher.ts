import type { Environment, Timer } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import type { Filter } from '../filter/filter.ts'
import { parseFilter } from '../filter/grammar.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import type { Statistics } from '../view/statistics.ts'
import type { TaskInfo } from '../view/status.ts'

/**
 * What to watch.
 * @example const changes = triarch.tasks.watch({ filter: 'status:paused', limit: 20, quiet: '15s' })
 */
export interface WatchOptions {
  /** Tasks that match this filter (docs/reference/filter.md); all by default. */
  filter?: string
  /** At most this many of them, in the filter's order: 1 to 200; 100 by default. */
  limit?: number
  /** Emit `quiet` after this long without a change; never by default. */
  quiet?: Duration
  /** Ends the watch, which rejects with its reason. */
  signal?: AbortSignal
}

/** Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION, INVALID_FILTER. */
export function watchedBy(
  what: string,
  options: WatchOptions,
): { filter: Filter; limit: number; quiet: number | null } {
  checkOptions(what, options, ['filter', 'limit', 'quiet', 'signal'])
  const { filter, limit = 100, quiet, signal } = options
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new TriarchError('INVALID_OPTION', `${what}: signal must be an AbortSignal`)
  return {
    filter: filter === undefined ? { terms: [] } : parseFilter(filter),
    limit: checkInteger(`${what}: limit`, limit, 1, 200),
    quiet: quiet === undefined ? null : positiveMilliseconds(quiet, `${what}: quiet`),
  }
}

/**
 * A change of a watched list: the whole list (first, and whenever that is shorter than its changes); a task that was added or changed; a
 * task that is no longer in it; or that nothing changed for a while.
 * @example for await (const change of triarch.tasks.watch()) console.log(change.type)
 */
export type ListChange =
  | { type: 'page'; tasks: TaskInfo[]; truncated?: true }
  | { type: 'task'; task: TaskInfo }
  | { type: 'gone'; id: string }
  | { type: 'quiet' }

/**
 * Counts of what is in the store now; or that nothing changed for a while.
 * @example
 * for await (const change of triarch.statistics.watch())
 *   if (change.type === 'counts') console.log(change.counts.ready)
 */
export type CountsChange = { type: 'counts'; counts: Omit<Statistics, 'stale' | 'fenced'> } | { type: 'quiet' }

type WatchedChange = ListChange | CountsChange
/** All watchers of the same list or counts. */
export type Audience = Set<Watcher>

/**
 * One watcher. Changes that it has not taken yet are kept, only the latest of each task; if they are more than the whole list, the whole
 * list is kept instead. So memory is bounded, however slow the watcher is.
 */
export class Watcher {
  readonly #environment: Environment
  readonly #audience: Audience
  readonly #whole: () => WatchedChange | null
  readonly #most: number
  readonly #pending = new Map<string, WatchedChange>()
  #begun = false
  #wants: (() => void) | null = null
  #failure: { error: unknown } | null = null
  /** Called when the watcher has left. */
  left: () => void = () => undefined

  constructor(environment: Environment, audience: Audience, most: number, whole: () => WatchedChange | null) {
    this.#environment = environment
    this.#audience = audience
    this.#most = most
    this.#whole = whole
    audience.add(this)
  }

  /** Starts the watch with the whole list. */
  begin(): void {
    this.#begun = true
    this.#renew()
  }

  tell(about: string, change: WatchedChange): void {
    if (!this.#begun) return
    this.#pending.delete(about)
    this.#pending.set(about, change)
    // The whole list may be among the changes, hence the extra one.
    if (this.#pending.size > 2 * this.#most + 1) this.#renew()
    this.#wants?.()
  }

  fail(error: unknown): void {
    this.#failure ??= { error }
    this.leave()
    this.#wants?.()
  }

  leave(): void {
    if (this.#audience.delete(this)) this.left()
  }

  #renew(): void {
    const whole = this.#whole()
    this.#pending.clear()
    if (whole) this.#pending.set('', whole)
  }

  /** Rejects with the signal's reason, or with an error if the store is unreachable. */
  async *changes(quiet: number | null, signal: AbortSignal | undefined): AsyncIterableIterator<WatchedChange> {
    try {
      for (;;) {
        signal?.throwIfAborted()
        if (this.#failure) throw this.#failure.error
        const [first] = this.#pending
        if (!first && !(await this.#told(quiet, signal))) yield { type: 'quiet' }
        if (!first) continue
        this.#pending.delete(first[0])
        yield first[1]
      }
    } finally {
      this.leave()
    }
  }

  /** Resolves to false if nothing happened for `quiet` ms. */
  #told(quiet: number | null, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      let timer: Timer | null = null
      const done = (told: boolean) => {
        timer?.cancel()
        signal?.removeEventListener('abort', woken)
        this.#wants = null
        resolve(told)
      }
      const woken = () => done(true)
      this.#wants = woken
      signal?.addEventListener('abort', woken, { once: true })
      if (quiet !== null) timer = this.#environment.timer(quiet, () => done(false))
    })
  }
}
