import type { Environment, Timer } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { Explanation, Reason } from '../view/reason.ts'
import { isPassing } from './waiting.ts'

/** How long something may stand still before anybody wonders (ms). */
const AFTER = 5_000
/** A cause that was looked into is looked into again after this long, at most so many at a time (ms). */
const AGAIN = 60_000
const MOST = 1_000

interface Means {
  environment: Pick<Environment, 'monotonic' | 'timer'>
  explain: (task: string) => Promise<Explanation>
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

/**
 * Wonders about what was asked for here and does not move: whether anybody runs that workflow, hosts that action, and whether
 * the code waits for something that will come. One look for each cause a minute, so it costs the same however much there is.
 */
export class StallDetector {
  readonly #means: Means
  readonly #causes = new Map<string, { at: number; timer: Timer }>()
  /** What was told, and when: several causes may lead to the same. */
  readonly #told = new Map<string, number>()
  #open = true

  constructor(means: Means) {
    this.#means = means
  }

  /** `cause`: all tasks of which one is as good to look at as another. */
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
   * A task that is no more, or is not yet committed by whoever submitted it, waits for nothing; a store that does not answer
   * is told of by those who need it, and the next task is looked at instead.
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
