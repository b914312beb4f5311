import { isTriarchError } from '../../packages/triarch/src/index.ts'
import type { Audited } from '../../packages/triarch/src/store/port.ts'
import type { LinkCall } from '../../packages/triarch/src/testing/link.ts'

/** A row of the audit. */
interface Kept {
  action: string
  subject: string
}

/** How often the same was asked: what was heard to be done, and what nobody can say of. */
interface Asked {
  done: number
  doubtful: number
  /** Was to lift what was not quarantined any more: that is so, and nobody has done it. */
  vain: number
}

/** What is asked of tasks from outside: what was done stands in the audit, once each, and nothing else does. */
export class Acts {
  readonly #asked = new Map<string, Asked>()

  async through(task: string, action: string, work: () => Promise<void>): Promise<void> {
    const key = `task.${action} task:${task}`
    const asked = this.#of(key)
    // Its machine may die before it hears.
    asked.doubtful++
    try {
      await work()
      asked.done++
      asked.doubtful--
    } catch (error) {
      if (refusals.some((code) => isTriarchError(error, code))) asked.doubtful--
      throw error
    }
  }

  /** A task that has stopped is only lifted, and somebody may have ended it by force, or lifted it, just before. */
  readonly observe = ({ name, args }: LinkCall, answer: unknown): void => {
    if (name !== 'releaseQuarantine' || answer !== false) return
    const { audit } = (args[1] ?? {}) as Audited
    if (audit) this.#of(`${audit.action} ${audit.subject}`).vain++
  }

  #of(key: string): Asked {
    const asked = this.#asked.get(key) ?? { done: 0, doubtful: 0, vain: 0 }
    this.#asked.set(key, asked)
    return asked
  }

  faults(rows: readonly Kept[]): string[] {
    const kept = Map.groupBy(rows, ({ action, subject }) => `${action} ${subject}`)
    const keys = new Set([...this.#asked.keys(), ...[...kept.keys()].filter((key) => key.startsWith('task.'))])
    return [...keys].flatMap((key) => {
      const { done, doubtful, vain } = this.#of(key)
      const found = kept.get(key)?.length ?? 0
      if (found >= done - vain && found <= done + doubtful) return []
      return [`${key} was done ${done} times, perhaps ${doubtful} more, and stands there ${found} times`]
    })
  }
}

/** These say that nothing was done. */
const refusals = ['TASK_STOPPED', 'TASK_NOT_PAUSED', 'ILLEGAL_MOVE', 'UNKNOWN_TASK', 'HISTORY_CORRUPT'] as const
