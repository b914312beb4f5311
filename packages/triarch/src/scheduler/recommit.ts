import { Backoff } from '../environment/backoff.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import type { StateStore } from '../store/port.ts'
import type { CommitOutcome, Transition } from '../store/transition.ts'
import type { Committer } from './committer.ts'

/** How long after a failure the transition is committed again: at first, and at most (ms). */
const AGAIN = 100
const LONGEST_AGAIN = 5_000

/** With these the store says that it wrote nothing. After any other error it may have, or may do so yet. */
const UNDONE: ReadonlySet<string> = new Set(['STORE_BUSY', 'STORE_FULL', 'STORE_READ_ONLY', 'STORE_UNAVAILABLE'])

export interface RecommitOptions {
  environment: Environment
  store: Pick<StateStore, 'task' | 'records'>
  committer: Committer
  /** Judges an error: how long the transition is to rest at least (ms), or why it is not to be tried again. `tries`: that failed before. */
  refused: (error: Error, tries: number) => number | Error
}

/** `unclaimed`: it was taken from this node, and nobody has it yet. */
export type Settled = CommitOutcome | { ok: false; reason: 'unclaimed' } | Error

/**
 * Commits one transition again until it is known what became of it. The fence makes that safe: a record is written once, and one that an
 * earlier try has written is found in the history.
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

  /** Tries at once instead of waiting. */
  hurry(): void {
    this.#wait?.timer.cancel()
    this.#wait?.over()
  }

  /** The task is not this node's any more. */
  stop(): void {
    this.#stopped = true
    this.hurry()
  }

  /**
   * `outcome`: of the first try. Resolves with the outcome that counts, or with the error for which the task cannot go on here; at once when
   * it is stopped.
   */
  async settle(transition: Transition, outcome: CommitOutcome | Error): Promise<Settled> {
    for (let last: CommitOutcome | Error = outcome; ; last = await this.#commit(transition)) {
      if (this.#stopped) return last
      if (!(last instanceof Error)) return last.ok || last.reason !== 'fenced' ? last : this.#whose(transition)
      const rest = this.#options.refused(last, this.#tries++)
      if (rest instanceof Error) return rest
      // A second request of an attempt would replace the first, which may run by now.
      if (transition.work.length > 0 && transition.events === null && !isUndone(last)) return last
      await this.#delay(rest)
      if (this.#stopped) return last
    }
  }

  #commit(transition: Transition): Promise<CommitOutcome | Error> {
    return new Promise((resolve) => this.#options.committer.commit(transition, resolve))
  }

  /** It was refused for the sake of the fence: because an earlier try has written it, or because the task is another's. */
  async #whose({ id, key, node, epoch, seq, at, events, release, snapshot }: Transition): Promise<Settled> {
    const { store } = this.#options
    for (;;) {
      try {
        // Its row is read last: where that is still there, retention has not dropped the record.
        const [record] = events === null ? [] : await store.records(id, seq - 1, 1)
        const row = await store.task(id)
        // It was written, and the task dropped since: retention drops what has stopped.
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
      // Drawn at random, so that those who were refused together do not come together again.
      const wait = this.#backoff.next() * (0.5 + environment.random() / 2)
      this.#wait = { timer: environment.timer(Math.max(least, wait), over), over }
    })
  }
}

function isUndone(error: Error): boolean {
  return isTriarchError(error) && UNDONE.has(error.code)
}
