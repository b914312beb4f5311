import type { Environment, Timer } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { Explanation, Reason } from '../view/reason.ts'
import { isPassing } from './waiting.ts'

/** How long something may make no progress before it is inspected (ms). */
const AFTER = 5_000
/** A cause is inspected again after this long (ms); and the most causes at a time. */
const AGAIN = 60_000
const MOST = 1_000

interface StallDetectorOptions {
  environment: Pick<Environment, 'monotonic' | 'timer'>
  explain: (task: string) => Promise<Explanation>
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

/**
 * Looks into what was submitted here and makes no progress: whether any node runs that workflow or hosts that action, and whether the
 * code waits for something that will come. Each cause is inspected at most once a minute, so the cost does not grow with the number of
 * tasks.
 */
export class StallDetector {
  readonly #means: StallDetectorOptions
  readonly #causes = new Map<string, { at: number; timer: Timer }>()
  /** When each alert was raised: several causes may lead to the same. */
  readonly #told = new Map<string, number>()
  #open = true

  constructor(means: StallDetectorOptions) {
    this.#means = means
  }

  /** `cause`: a key shared by all tasks of which inspecting one is enough. */
  wonder(task: string, cause: string): void {
    const { environment } = this.#means
    const known = this.#causes.get(cause)
    const now = environment.monotonic()
    if (!this.#open || (known && now - known.at < AGAIN)) return
    if (!known && this.#causes.size >= MOST) return
    const timer = environment.timer(AFTER, () => void this.#look(task).catch((error) => this.#missed(cause, error)))
    timer.unref?.()
    this.#causes.set(cause, { at: now, timer })
  }

  close(): void {
    this.#open = false
    for (const { timer } of this.#causes.values()) timer.cancel()
    this.#causes.clear()
  }

  /**
   * A task that no longer exists, or is not committed yet, waits for nothing. If the store does not answer, that is reported elsewhere,
   * and the next task of the cause is inspected instead.
   */
  #missed(cause: string, error: unknown): void {
    if (!this.#open || isTriarchError(error, 'UNKNOWN_TASK')) return
    if (isPassing(error)) this.#causes.delete(cause)
    else this.#means.failed(error)
  }

  async #look(task: string): Promise<void> {
    if (!this.#open) return
    const { environment, explain, alert } = this.#means
    const { reasons, workflow } = await explain(task)
    for (const reason of reasons) {
      const code = codes[reason.code]
      if (!code || !this.#open) continue
      const key = [code, workflow, 'action' in reason ? reason.action : ''].join(' ')
      const now = environment.monotonic()
      if (now - (this.#told.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN) continue
      if (this.#told.size >= MOST) this.#told.clear()
      this.#told.set(key, now)
      const about = reason.code === 'no-agent' ? { step: reason.step, action: reason.action } : {}
      alert({ code, task, workflow, ...about, cause: reason.code, message: `the task ${reason.text}` })
    }
  }
}

const codes: Partial<Record<Reason['code'], RaisedAlert['code'] & string>> = {
  'no-scheduler': 'TASK_UNATTENDED',
  'no-agent': 'STEP_UNATTENDED',
  stalled: 'WORKFLOW_STALLED',
}
