import { delay, type Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { TaskEvent } from '../kernel/event.ts'
import type { Pause } from '../kernel/state.ts'
import { objectOf } from '../store/legible.ts'
import type { StateStore, TaskRow } from '../store/port.ts'
import { PROBATION } from './mail.ts'

/** Why a task is set apart: `details.cause` of TASK_QUARANTINED. */
export type Trouble = 'history' | 'letter' | 'turn' | 'refused' | 'deaths' | 'replay' | 'size'

/** Failures in a row that are the task's own. */
const ENOUGH = 2
/** While the store refuses everybody, it is the store, for this long at least (ms). */
const BENEFIT_OF_DOUBT = 600_000
/** Owners that died with the task on trial. */
export const STRIKES = 3

const CORRUPT: ReadonlySet<string> = new Set(['HISTORY_CORRUPT', 'LETTER_CORRUPT', 'REPLAY_TOO_LONG', 'TASK_TOO_LARGE'])
const TROUBLE: Readonly<Record<string, Trouble>> = {
  LETTER_CORRUPT: 'letter',
  REPLAY_TOO_LONG: 'replay',
  TASK_TOO_LARGE: 'size',
}

export interface QuarantineOptions {
  environment: Environment
  store: StateStore
  node: string
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

/** A task as far as it need be known to be set apart. */
export interface Owned {
  id: string
  epoch: number
}

/**
 * Judges whether an error is the task's own, and sets the task apart if it is: paused by a write that carries nothing else,
 * and claimed by nobody before an operator's word. A store that is busy, away or full is no task's fault.
 */
export class Quarantine {
  readonly #options: QuarantineOptions
  /** In a row, by task; since when, and how many transitions of others had been accepted by then. */
  readonly #failures = new Map<string, { count: number; accepted: number; since: number }>()
  #accepted = 0

  constructor(options: QuarantineOptions) {
    this.#options = options
  }

  /** A transition of the task was written. */
  accepted(id: string): void {
    this.#accepted++
    if (this.#failures.size > 0) this.#failures.delete(id)
  }

  /** Why the task is to be set apart now; null: it is to be tried again. */
  judge(id: string, error: Error, strikes: number): TriarchError | null {
    const code = isTriarchError(error) ? error.code : ''
    if (code.startsWith('STORE_') && code !== 'STORE_FAILED') return null
    const trouble = TROUBLE[code] ?? (CORRUPT.has(code) ? 'history' : code === 'STORE_FAILED' ? 'refused' : 'turn')
    if (CORRUPT.has(code) || (strikes >= PROBATION && trouble !== 'refused')) return because(trouble, error)
    const now = this.#options.environment.monotonic()
    const known = this.#failures.get(id) ?? { count: 0, accepted: this.#accepted, since: now }
    known.count++
    this.#failures.set(id, known)
    if (known.count < ENOUGH && strikes < PROBATION) return null
    // What the store refuses to all of them is not the fault of one.
    const refusesAll = this.#failures.size > 1 && this.#accepted === known.accepted
    if (trouble === 'refused' && refusesAll && now - known.since < BENEFIT_OF_DOUBT) return null
    return because(trouble, error)
  }

  /** How long the task is left alone before it is tried again (ms). */
  rest(id: string): number {
    const count = this.#failures.get(id)?.count ?? 0
    return count <= 1 ? 0 : Math.min(30_000, 100 * 2 ** count)
  }

  /** Its owners died of it. */
  deaths(strikes: number): TriarchError {
    return because('deaths', new Error(`${strikes} nodes died while they opened it`))
  }

  /** Tries until the store answers; the fence keeps it from harming a later owner. */
  async setApart({ id, epoch }: Owned, error: TriarchError): Promise<void> {
    const { environment, store, node, alert, failed } = this.#options
    this.#failures.delete(id)
    for (let wait = 50; ; wait = Math.min(wait * 2, 5_000)) {
      try {
        const row = await store.task(id)
        if (row?.lockedBy !== node || row.epoch !== epoch) return
        const at = Math.max(row.updatedAt, environment.now())
        if (await store.quarantine({ key: row.key, id, node, epoch, at, record: recordOf(row, error) }))
          alert({
            code: 'TASK_QUARANTINED',
            task: id,
            workflow: row.workflow,
            reason: 'quarantine',
            message: error.message,
          })
        return
      } catch (failure) {
        if (isTriarchError(failure, 'STORE_CLOSED')) return
        failed(failure)
        await delay(environment, wait)
      }
    }
  }
}

function because(trouble: Trouble, cause: Error): TriarchError {
  const what = {
    history: 'its history cannot be read',
    letter: 'a letter to it cannot be read',
    turn: 'its turn fails',
    refused: 'the store refuses what it writes',
    deaths: 'its owners die of it',
    replay: 'its replay takes too long',
    size: 'no node has the memory for it',
  }[trouble]
  return new TriarchError('TASK_QUARANTINED', `the task was set apart: ${what} (${cause.message})`, {
    cause,
    details: { cause: trouble },
  })
}

/** One that has stopped stays so. */
function recordOf(row: TaskRow, thrown: TriarchError): { events: string; pause: string } | null {
  if (row.status === 'stopped') return null
  const { stack: _, ...error } = toRecord(thrown)
  const before = objectOf<Pause>(row.pause)
  const event: TaskEvent = { type: 'paused', reason: 'quarantine', error }
  const { note, broken = false, from = row.status } = before ?? {}
  const pause: Pause = { reason: 'quarantine', from, error, note, broken }
  return { events: JSON.stringify([event]), pause: JSON.stringify(pause) }
}
