import { dueAt, type ScheduleDefinition, type ScheduleState, takeDue } from '../definition/schedule.ts'
import type { Environment } from '../environment/environment.ts'
import type { ScheduleRow, StateStore } from '../store/port.ts'
import { occurrenceTask } from './occurrence.ts'

/** Schedules one round fires: the others come with the next. */
const MOST = 100

/**
 * Starts what schedules have due, each in one transaction with the instant it is due next. Under the leader's token: whoever
 * lost it, or comes second, writes nothing. How many were due, and whether there are more.
 */
export async function fireSchedules(
  store: StateStore,
  environment: Pick<Environment, 'now'>,
  fence: { name: string; token: number },
): Promise<{ count: number; more: boolean }> {
  const rows = await store.schedules({ due: environment.now(), limit: MOST })
  if (rows.length === 0) return { count: 0, more: false }
  // Nothing begins early by the clock of one node: the store's decides.
  const now = await store.now()
  for (const row of rows) if ((row.nextAt ?? now) <= now) await fire(store, row, { now, fence })
  return { count: rows.length, more: rows.length === MOST }
}

async function fire(
  store: StateStore,
  { name, revision, definition: text, state: before }: ScheduleRow,
  { now, fence }: { now: number; fence: { name: string; token: number } },
): Promise<void> {
  const definition = JSON.parse(text) as ScheduleDefinition
  const { start, state } = takeDue(name, definition, JSON.parse(before) as ScheduleState, now)
  const { overlap } = definition
  const tasks = start.map((occurrence) => occurrenceTask(name, definition, occurrence, { now, overlap }))
  const nextAt = state.next === null ? null : dueAt(name, definition, state.next)
  const outcomes = await store.writeSchedule({
    ...{ name, expected: revision, tasks, fence, nextAt },
    definition: text,
    state: JSON.stringify({ ...state, started: state.started + tasks.length }),
  })
  const skipped = outcomes?.filter(({ heldBy }) => heldBy !== undefined).length ?? 0
  if (skipped > 0) await count(store, name, skipped)
}

/** Only the store knew which of them would overlap. A count that is lost with its process is all that is lost. */
async function count(store: StateStore, wanted: string, skipped: number): Promise<void> {
  const [row] = await store.schedules({ name: wanted, limit: 1 })
  if (!row) return
  const state = JSON.parse(row.state) as ScheduleState
  const counted = { ...state, started: state.started - skipped, skipped: state.skipped + skipped }
  const { name, definition, nextAt, revision: expected } = row
  const write = { name, definition, nextAt, expected, tasks: [], fence: null }
  await store.writeSchedule({ ...write, state: JSON.stringify(counted) })
}
