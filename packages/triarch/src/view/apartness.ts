import type { Pause } from '../kernel/task/pause.ts'
import { objectOf } from '../store/legible.ts'
import type { StateStore, TaskRow } from '../store/port.ts'
import { legibleOutline } from '../store/record.ts'
import { clock, type Explanation, type Reason } from './reason.ts'

/** Higher than the number of any record. */
const BEYOND = 2 ** 31 - 1

/** Why a task is quarantined, from its row, or from the last record of a task that had stopped; the rest of the task may be unreadable. */
export async function apartness(store: StateStore, row: TaskRow): Promise<Explanation> {
  const { id, workflow, status, updatedAt } = row
  const told = status === 'stopped' ? await lastWord(store, row) : undefined
  const error = objectOf<Pause>(row.pause)?.error
  const cause = (error?.details as { cause?: string } | undefined)?.cause
  const since = new Date(updatedAt)
  const why = error?.message ?? told ?? 'no reason is recorded'
  const bad = error?.cause?.details as { record?: number; to?: number } | undefined
  const broken = bad?.record === undefined ? undefined : { from: bad.record, to: bad.to ?? bad.record }
  const whole = broken && broken.from > 1 && status !== 'stopped' ? broken.from - 1 : undefined
  const back = whole === undefined ? '' : `, resume({ after: ${whole} }) without what comes after record ${whole}`
  const ways =
    status === 'stopped'
      ? 'resume(), retry() or cancel({ force: true })'
      : `resume(), retry()${back} or cancel({ force: true })`
  const text = `is in quarantine since ${clock(since)}: ${why}; no node claims it before ${ways}`
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

async function lastWord(store: StateStore, { id, key }: TaskRow): Promise<string | undefined> {
  const [end] = await store.lostRecords([{ id, key, seq: BEYOND }])
  const [record] = end?.last == null ? [] : await store.records(id, end.last - 1, 1)
  const last = legibleOutline(record?.events)?.at(-1)
  return last?.type === 'messageIgnored' && last.message === 'quarantine' ? last.reason : undefined
}
