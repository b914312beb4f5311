import { delay, type Environment } from '../environment/environment.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { TaskEvent } from '../kernel/event.ts'
import { BrokenInvariant } from '../kernel/invariant.ts'
import type { Pause } from '../kernel/task/pause.ts'
import { objectOf } from '../store/legible.ts'
import type { QuarantineEntry as SetApart, StateStore, TaskRow } from '../store/port.ts'
import { recordText } from '../store/record.ts'
import { PROBATION } from './incoming-message.ts'

/** The reason for a quarantine: `details.cause` of TASK_QUARANTINED. */
export type Trouble = 'invariant' | 'history' | 'message' | 'codec' | 'turn' | 'refused' | 'deaths' | 'replay' | 'size'

/** Failures that put a task into quarantine: this many in a row, or this many in all with accepted writes in between. */
const ENOUGH = 2
const OFTEN = 5
/** Failures older than this no longer count (ms). */
const FORGOTTEN = 600_000
/**
 * While the store refuses every write, the fault may be the store's: no task is quarantined for this long (ms), and for longer once
 * `from` tasks are refused. Refused tasks rest meanwhile, longer each time.
 */
const DOUBT = { few: 60_000, many: 600_000, from: 10 }
/** A task on probation is quarantined after this many owners have died with it. */
export const MAX_PROBATION_DEATHS = 3

const TROUBLE: Readonly<Record<string, Trouble>> = {
  HISTORY_CORRUPT: 'history',
  HISTORY_FORMAT_UNKNOWN: 'history',
  MESSAGE_CORRUPT: 'message',
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

/** The parts of a task that quarantining it needs. */
export interface Owned {
  id: string
  epoch: number
}

/**
 * Judges whether an error is the task's own fault, and quarantines the task if it is: a write that carries nothing else pauses it, and no
 * node claims it until an operator resumes it. A store that is busy, unreachable or full is not a task's fault.
 */
export class Quarantine {
  readonly #options: QuarantineOptions
  /**
   * By task: failures in a row, when that row began and how many transitions had been accepted by then; all failures, and the time of the
   * last.
   */
  readonly #failures = new Map<string, { row: number; since: number; accepted: number; count: number; last: number }>()
  #accepted = 0

  constructor(options: QuarantineOptions) {
    this.#options = options
  }

  /** Called when a transition of the task was written. */
  accepted(id: string): void {
    this.#accepted++
    const known = this.#failures.size > 0 ? this.#failures.get(id) : undefined
    if (known) known.row = 0
  }

  /** Returns the reason to quarantine the task now, or null if it is to be tried again. */
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

  /** How long a refusal may be taken for the store's fault (ms): only while every write is refused, and more than one task's. */
  #doubt(accepted: number): number {
    if (this.#accepted !== accepted) return 0
    const refused = [...this.#failures.values()].filter(({ row }) => row > 0).length
    if (refused <= 1) return 0
    return refused < DOUBT.from ? DOUBT.few : DOUBT.many
  }

  /** How long to wait before the task is tried again (ms). */
  rest(id: string): number {
    const count = this.#failures.get(id)?.count ?? 0
    return count <= 1 ? 0 : Math.min(30_000, 100 * 2 ** count)
  }

  /** The reason for a task whose owners died with it. */
  deaths(strikes: number): TriarchError {
    return because('deaths', new Error(`${strikes} nodes died while they opened it`))
  }

  /**
   * Retries until the store answers; the fence keeps a late write from harming another owner. Returns false if the task was refused and
   * the store refuses this write too, so the store may be at fault after all.
   */
  async setApart({ id, epoch }: Owned, orphaned: boolean, error: TriarchError): Promise<boolean> {
    const { environment, store, node, alert, failed } = this.#options
    const refused = (error.details as { cause: Trouble }).cause === 'refused'
    for (let wait = 50; ; wait = Math.min(wait * 2, 5_000)) {
      try {
        const row = await store.task(id)
        if (row?.lockedBy !== node || row.epoch !== epoch) return true
        const at = Math.max(row.updatedAt, environment.now())
        if (await store.quarantine({ key: row.key, id, node, epoch, at, orphaned, record: recordOf(row, error, at) }))
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
    message: 'a message to it cannot be read',
    codec: 'what is stored of it cannot be decoded',
    turn: 'its turn fails',
    refused: 'the store refuses what it writes',
    deaths: 'its owners die of it',
    replay: 'its replay takes too long',
    size: 'no node has the memory for it',
  }[trouble]
  return new TriarchError('TASK_QUARANTINED', `the task was put into quarantine: ${what} (${cause.message})`, {
    cause,
    details: { cause: trouble },
  })
}

/** The record of the quarantine. A task that has stopped stays stopped. */
function recordOf(row: TaskRow, thrown: TriarchError, at: number): SetApart['record'] {
  if (row.status === 'stopped') {
    const why: TaskEvent = { type: 'messageIgnored', message: 'quarantine', reason: thrown.message }
    return { events: recordText([why]), pause: null }
  }
  const { stack: _, ...error } = toRecord(thrown)
  const before = objectOf<Pause>(row.pause)
  const event: TaskEvent = { type: 'paused', reason: 'quarantine', error }
  const { note, actor, broken = false, from = row.status, since = at } = before ?? {}
  const pause: Pause = { reason: 'quarantine', since, from, error, note, broken, ...(actor !== undefined && { actor }) }
  return { events: recordText([event]), pause: JSON.stringify(pause) }
}
