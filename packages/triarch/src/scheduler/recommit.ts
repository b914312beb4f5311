import { Backoff } from '../environment/backoff.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import type { StateStore } from '../store/port.ts'
import type { CommitOutcome, Transition } from '../store/transition.ts'
import type { Committer } from './committer.ts'

/** Delay before a failed transition is committed again: the first one, and the longest (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000

/** After these errors nothing was written. After any other error the write may have happened, or may yet happen. */
const UNDONE: ReadonlySet<string> = new Set(['STORE_BUSY', 'STORE_FULL', 'STORE_READ_ONLY', 'STORE_UNAVAILABLE'])

export interface RecommitOptions {
  environment: Environment
  store: Pick<StateStore, 'task' | 'records'>
  committer: Committer
  /** Judges an error: returns the least delay before the next try (ms), or the error that forbids one. `tries`: failures so far. */
  refused: (error: Error, tries: number) => number | Error
}

/** `unclaimed`: the task was taken from this node, and no node has claimed it yet. */
export type Settled = CommitOutcome | { ok: false; reason: 'unclaimed' } | Error

/**
 * Commits a transition again until its fate is known. The fence makes that safe: a record is written only once, and one written by an
 * earlier try is found in the history.
 */
export class Recommit {
  readonly #options: RecommitOptions
  readonly #backoff: Backoff
  #wait: { timer: Timer; over: () => void } | null = null
  #stopped = false
  #tries = 0

  constructor(options: RecommitOptions) {
    this.#options = options
    this.#backoff = new Backoff(AGAIN, LONGEST_AGAIN)
  }

  /** Retries at once instead of waiting. */
  hurry(): void {
    this.#wait?.timer.cancel()
    this.#wait?.over()
  }

  /** Stops retrying: the task no longer belongs to this node. */
  stop(): void {
    this.#stopped = true
    this.hurry()
  }

  /**
   * `outcome` is that of the first try. Resolves to the outcome that counts, or to the error for which the task cannot go on here; at
   * once when stopped.
   */
  async settle(transition: Transition, outcome: CommitOutcome | Error): Promise<Settled> {
    for (let last: CommitOutcome | Error = outcome; ; last = await this.#commit(transition)) {
      if (this.#stopped) return last
      if (!(last instanceof Error)) return last.ok || last.reason !== 'fenced' ? last : this.#whose(transition)
      const rest = this.#options.refused(last, this.#tries++)
      if (rest instanceof Error) return rest
      // A second request for an attempt would replace the first, which may already be running.
      if (transition.work.length > 0 && transition.events === null && !isUndone(last)) return last
      await this.#delay(rest)
      if (this.#stopped) return last
    }
  }

  #commit(transition: Transition): Promise<CommitOutcome | Error> {
    return new Promise((resolve) => this.#options.committer.commit(transition, resolve))
  }

  /** Finds out why the fence refused the transition: an earlier try has written it, or another node owns the task. */
  async #whose({ id, key, node, epoch, seq, at, events, release, snapshot }: Transition): Promise<Settled> {
    const { store } = this.#options
    for (;;) {
      try {
        // The row is read after the record: if the row still exists, retention has not deleted the record.
        const [record] = events === null ? [] : await store.records(id, seq - 1, 1)
        const row = await store.task(id)
        // The transition was written and the task deleted since, because retention deletes stopped tasks.
        if (!row && key !== null && snapshot?.status === 'stopped') return { ok: true, key }
        if (!row || row.key !== key || row.epoch !== epoch) return { ok: false, reason: 'fenced' }
        const isWritten = events === null ? release !== null : record?.seq === seq && record.at === at
        if (isWritten && row.lockedBy === (release ? null : node)) return { ok: true, key }
        return { ok: false, reason: row.lockedBy === null ? 'unclaimed' : 'fenced' }
      } catch (error) {
        const rest = this.#options.refused(error as Error, this.#tries++)
        if (rest instanceof Error) return rest
        await this.#delay(rest)
        if (this.#stopped) return { ok: false, reason: 'fenced' }
      }
    }
  }

  #delay(least: number): Promise<void> {
    const { environment } = this.#options
    return new Promise((resolve) => {
      const over = () => {
        this.#wait = null
        resolve()
      }
      // The delay is random, so that transitions refused together are not retried together.
      const wait = this.#backoff.next() * (0.5 + environment.random() / 2)
      this.#wait = { timer: environment.timer(Math.max(least, wait), over), over }
    })
  }
}

function isUndone(error: Error): boolean {
  return isTriarchError(error) && UNDONE.has(error.code)
}
