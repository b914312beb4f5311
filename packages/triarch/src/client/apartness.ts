import type { Pause } from '../kernel/state.ts'
import { objectOf } from '../store/legible.ts'
import type { TaskRow } from '../store/port.ts'
import { clock, type Explanation, type Reason } from './reason.ts'

/** Why a task is set apart, as its row says it: nothing else need be read, nor might it be readable. */
export function apartness(row: TaskRow): Explanation {
  const { id, workflow, status, updatedAt } = row
  const error = objectOf<Pause>(row.pause)?.error
  const cause = (error?.details as { cause?: string } | undefined)?.cause
  const since = new Date(updatedAt)
  const why = error?.message ?? 'it was set apart'
  const bad = error?.cause?.details as { record?: number; to?: number } | undefined
  const broken = bad?.record === undefined ? undefined : { from: bad.record, to: bad.to ?? bad.record }
  const whole = broken && broken.from > 1 && status !== 'stopped' ? broken.from - 1 : undefined
  const back = whole === undefined ? '' : `, resume({ after: ${whole} }) without what comes after record ${whole}`
  const ways =
    status === 'stopped'
      ? 'resume(), retry() or cancel({ force: true })'
      : `resume(), retry()${back} or cancel({ force: true })`
  const text = `is in quarantine since ${clock(since)}: ${why}; nobody takes it before ${ways}`
  const reason: Reason = {
    code: 'quarantined',
    since,
    text,
    ...(cause !== undefined && { cause }),
    ...(error && { error: error.message }),
    ...(broken && { broken }),
  }
  return { task: id, workflow, status, text: `Task "${id}" (${workflow}) ${text}.`, reasons: [reason], holds: [] }
}
