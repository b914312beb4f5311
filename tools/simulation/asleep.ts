import { isGated } from '../../packages/triarch/src/kernel/lock/gate.ts'
import { type DatedEvent, rebuild } from '../../packages/triarch/src/kernel/rebuild.ts'
import type { TaskState } from '../../packages/triarch/src/kernel/state.ts'
import { isOutstanding } from '../../packages/triarch/src/kernel/turn.ts'
import { RecordReader } from '../../packages/triarch/src/store/reader.ts'
import type { SharedStore } from '../../packages/triarch/src/testing/shared.ts'

/** In nobody's memory, not ready, and nothing is on its way to them. */
const RESTING = `
SELECT key, id, wake_at AS wakeAt FROM triarch_tasks t
WHERE locked_by IS NULL AND ready = 0 AND quarantined = 0 AND status <> 'stopped'
  AND NOT EXISTS (SELECT 1 FROM triarch_work w WHERE w.task = t.key)`
const RECORDS = 'SELECT seq, at, events FROM triarch_history WHERE task = ? ORDER BY seq'

/** Judges of every task at rest whether somebody will wake it. */
export class Asleep {
  readonly faults: string[] = []
  readonly #store: Pick<SharedStore, 'database'>
  readonly #told = new Set<string>()

  constructor(store: Pick<SharedStore, 'database'>) {
    this.#store = store
  }

  /** Of each task it says it once. `now`: the store's clock. */
  look(): void {
    for (const { key, id, wakeAt } of this.#store.database.all<{ key: number; id: string; wakeAt: number | null }>(
      RESTING,
    )) {
      const state = this.#told.has(id) ? null : this.#state(key, id)
      if (!state || isAsleep(state, wakeAt)) continue
      this.#told.add(id)
      this.faults.push(`${id} is ${state.status}, not ready and in nobody's memory, and waits for nothing that comes`)
    }
  }

  /** Null: its history cannot be read, as poison does. */
  #state(key: number, id: string): TaskState | null {
    try {
      const reader = new RecordReader()
      const rows = this.#store.database.all<{ seq: number; at: number; events: string }>(RECORDS, key)
      const history = rows.flatMap(({ seq, at, events }): DatedEvent[] =>
        reader.events(events, seq).map((event) => ({ at, event })),
      )
      return rebuild(id, history).state
    } catch {
      return null
    }
  }
}

/** For a reason that somebody ends: an operator, the clock, a signal, a child, whoever has a lock. A complete-by alone is none. */
function isAsleep(state: TaskState, wakeAt: number | null): boolean {
  const { status, pause, timers, waits, suspensions, children, batches, locks, steps } = state
  if (status === 'paused' || pause || isGated(state)) return true
  if (status === 'pending' || status === 'scheduled') return wakeAt !== null
  // Once its code has ended, timers wake nobody.
  if (timers.size > 0 && wakeAt !== null) return true
  if (waits.size + suspensions.size > 0) return true
  if ([...children.values()].some((child) => child.status !== 'stopped')) return true
  if ([...batches.values()].some(({ outstanding }) => outstanding.size > 0)) return true
  if ([...locks.values()].some(({ standing }) => standing === 'asked')) return true
  return [...steps.values()].some((step) => step.held !== null || (isOutstanding(step) && wakeAt !== null))
}
