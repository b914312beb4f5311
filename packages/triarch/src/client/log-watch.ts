import type { Environment } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import type { StateStore, TaskRow } from '../store/port.ts'

/** Interval between two polls of a followed log (ms). */
export const LOG_POLL_MS = 500

interface LogWatchOptions {
  store: StateStore
  environment: Environment
  /** Throws UNKNOWN_TASK, STORE_*. */
  row: (task: string) => Promise<TaskRow>
  /** Resolves once log lines of this process can be read from the store. */
  said: () => Promise<void>
}

/** The state of a log and of its task at one poll. */
interface LogPoll {
  /** Time of the poll (ms). */
  at: number
  /** The task has stopped and has no owner. */
  isOver: boolean
  /** The number of the last line. */
  last: number
}

/** Followed logs: at most one poll of each per interval, however many follow it. Each follower reads the lines by itself. */
export class LogWatch {
  readonly #means: LogWatchOptions
  readonly #followed = new Map<
    string,
    { followers: number; lookedAt: number; last: number; look: Promise<LogPoll> | null }
  >()

  constructor(means: LogWatchOptions) {
    this.#means = means
  }

  enter(task: string): void {
    const log = this.#followed.get(task) ?? { followers: 0, lookedAt: 0, last: 0, look: null }
    log.followers++
    this.#followed.set(task, log)
  }

  leave(task: string): void {
    const log = this.#followed.get(task)
    if (log && --log.followers === 0) this.#followed.delete(task)
  }

  /** Polls the log, which must be followed. Throws UNKNOWN_TASK, STORE_*. */
  look(task: string): Promise<LogPoll> {
    const log = this.#followed.get(task)
    if (!log) throw new TriarchError('INVARIANT', 'a log is looked at that nobody follows')
    const now = this.#means.environment.monotonic()
    if (log.look === null || now - log.lookedAt >= LOG_POLL_MS) {
      // No other poll begins before this one has ended.
      log.lookedAt = Number.POSITIVE_INFINITY
      const look = this.#look(task, log.last).finally(() => {
        log.lookedAt = now
      })
      log.look = look
      look.then(
        ({ last }) => {
          log.last = Math.max(log.last, last)
        },
        () => {
          if (log.look === look) log.look = null
        },
      )
    }
    return log.look
  }

  async #look(task: string, after: number): Promise<LogPoll> {
    const { environment, store } = this.#means
    const at = environment.monotonic()
    const { status, lockedBy } = await this.#means.row(task)
    await this.#means.said()
    const { last } = await store.logs({ task, after, limit: 1, level: 0, step: null, attempt: null })
    return { at, isOver: status === 'stopped' && lockedBy === null, last }
  }
}
