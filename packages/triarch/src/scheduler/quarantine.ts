import { delay, type Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { TaskEvent } from '../kernel/event.ts'
import { BrokenInvariant } from '../kernel/invariant.ts'
import type { Pause } from '../kernel/task/pause.ts'
import { objectOf } from '../store/legible.ts'
import type { Quarantine as SetApart, StateStore, TaskRow } from '../store/port.ts'
import { recordText } from '../store/record.ts'
import { PROBATION } from './mail.ts'

/** Why a task is set apart: `details.cause` of TASK_QUARANTINED. */
export type Trouble = 'invariant' | 'history' | 'letter' | 'codec' | 'turn' | 'refused' | 'deaths' | 'replay' | 'size'

/** Failures that are the task's own: in a row, or with some of what it wrote accepted in between. */
const ENOUGH = 2
const OFTEN = 5
/** A failure is of no account any more (ms). */
const FORGOTTEN = 600_000
/**
 * While the store refuses all that anybody writes, it may be the store: for this long (ms), and for longer once so many are
 * refused. Whoever is refused rests meanwhile, for longer each time.
 */
const DOUBT = { few: 60_000, many: 600_000, from: 10 }
/** Owners that died with the task on trial. */
export const STRIKES = 3

const TROUBLE: Readonly<Record<string, Trouble>> = {
  HISTORY_CORRUPT: 'history',
  HISTORY_FORMAT_UNKNOWN: 'history',
  MESSAGE_CORRUPT: 'letter',
  REPLAY_TOO_LONG: 'replay',
  TASK_TOO_LARGE: 'size',
  CODEC_MISSING: 'codec',
  CODEC_KEY_MISSING: 'codec',
  CODEC_FAILED: 'codec',
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
  /** By task: those in a row, since when, and how many transitions had been accepted by then; and all until the last. */
  readonly #failures = new Map<string, { row: number; since: number; accepted: number; count: number; last: number }>()
  #accepted = 0

  constructor(options: QuarantineOptions) {
    this.#options = options
  }

  /** A transition of the task was written. */
  accepted(id: string): void {
    this.#accepted++
    const known = this.#failures.size > 0 ? this.#failures.get(id) : undefined
    if (known) known.row = 0
  }

  /** Why the task is to be set apart now; null: it is to be tried again. */
  judge(id: string, error: Error, strikes: number): TriarchError | null {
    const code = isTriarchError(error) ? error.code : ''
    if (code.startsWith('STORE_') && code !== 'STORE_FAILED') return null
    const surely = error instanceof BrokenInvariant ? 'invariant' : TROUBLE[code]
    const trouble = surely ?? (code === 'STORE_FAILED' ? 'refused' : 'turn')
    if (surely || (strikes >= PROBATION && trouble !== 'refused')) return because(trouble, error)
    const now = this.#options.environment.monotonic()
    for (const [task, { last }] of this.#failures) if (now - last > FORGOTTEN) this.#failures.delete(task)
    const before = this.#failures.get(id)
    const { row, since, accepted } =
      before && before.row > 0 ? before : { row: 0, since: now, accepted: this.#accepted }
    const known = { row: row + 1, since, accepted, count: (before?.count ?? 0) + 1, last: now }
    this.#failures.set(id, known)
    if (known.row < ENOUGH && known.count < OFTEN && strikes < PROBATION) return null
    if (trouble === 'refused' && now - since < this.#doubt(accepted)) return null
    return because(trouble, error)
  }

  /** What the store refuses to all of them may not be the fault of one: for how long that is believed. */
  #doubt(accepted: number): number {
    if (this.#accepted !== accepted) return 0
    const refused = [...this.#failures.values()].filter(({ row }) => row > 0).length
    if (refused <= 1) return 0
    return refused < DOUBT.from ? DOUBT.few : DOUBT.many
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

  /**
   * Tries until the store answers; the fence keeps it from harming a later owner. False: of one that was refused, the store
   * refuses this as well, so that it may be the store after all.
   */
  async setApart({ id, epoch }: Owned, orphaned: boolean, error: TriarchError): Promise<boolean> {
    const { environment, store, node, alert, failed } = this.#options
    const refused = (error.details as { cause: Trouble }).cause === 'refused'
    for (let wait = 50; ; wait = Math.min(wait * 2, 5_000)) {
      try {
        const row = await store.task(id)
        if (row?.lockedBy !== node || row.epoch !== epoch) return true
        const at = Math.max(row.updatedAt, environment.now())
        if (await store.quarantine({ key: row.key, id, node, epoch, at, orphaned, record: recordOf(row, error) }))
          alert({
            code: 'TASK_QUARANTINED',
            task: id,
            workflow: row.workflow,
            cause: 'quarantine',
            message: error.message,
          })
        this.#failures.delete(id)
        return true
      } catch (failure) {
        if (isTriarchError(failure, 'STORE_CLOSED')) return true
        failed(failure)
        if (refused && isTriarchError(failure, 'STORE_FAILED')) return false
        await delay(environment, wait)
      }
    }
  }
}

function because(trouble: Trouble, cause: Error): TriarchError {
  const what = {
    invariant: 'the engine contradicts itself about it',
    history: 'its history cannot be read',
    letter: 'a letter to it cannot be read',
    codec: 'what is stored of it cannot be decoded',
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
function recordOf(row: TaskRow, thrown: TriarchError): SetApart['record'] {
  if (row.status === 'stopped') {
    const why: TaskEvent = { type: 'messageIgnored', message: 'quarantine', reason: thrown.message }
    return { events: recordText([why]), pause: null }
  }
  const { stack: _, ...error } = toRecord(thrown)
  const before = objectOf<Pause>(row.pause)
  const event: TaskEvent = { type: 'paused', reason: 'quarantine', error }
  const { note, actor, broken = false, from = row.status } = before ?? {}
  const pause: Pause = { reason: 'quarantine', from, error, note, broken, ...(actor !== undefined && { actor }) }
  return { events: recordText([event]), pause: JSON.stringify(pause) }
}
