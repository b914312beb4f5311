import { dueAt, type ScheduleDefinition, type ScheduleState, takeDue } from '../definition/schedule.ts'
import type { Environment } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { NewTask, ScheduleRow, StateStore } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import { submission } from '../telemetry/submission.ts'
import { occurrenceTask } from './occurrence.ts'

/** Schedules one round fires: the others come with the next. */
const MOST = 100

/** How long a schedule that failed is left alone: after the first time, and at most (ms). */
const FIRST_REST = 1_000
const LONGEST_REST = 300_000

interface Means {
  store: StateStore
  node: string
  telemetry: Telemetry
  environment: Pick<Environment, 'now'>
  /** Why a schedule starts nothing now; undefined: it does. */
  paused?: (schedule: string) => string | undefined
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

interface Round {
  now: number
  fence: { name: string; token: number }
}

/**
 * Starts what schedules have due, each in one transaction with the instant it is due next. Under the leader's token: whoever
 * lost it, or comes second, writes nothing. One that cannot be started is put off, and says so; it costs the others nothing.
 * How many were due, and whether there are more.
 */
export async function fireSchedules(means: Means, fence: Round['fence']): Promise<{ count: number; more: boolean }> {
  const { store, environment, failed } = means
  const rows = await store.schedules({ due: environment.now(), limit: MOST })
  if (rows.length === 0) return { count: 0, more: false }
  // Nothing begins early by the clock of one node: the store's decides.
  const round = { now: await store.now(), fence }
  for (const row of rows) {
    if ((row.nextAt ?? round.now) > round.now) continue
    try {
      if (means.paused?.(row.name) === undefined) await fire(means, row, round)
      else await putOff(means, row, round)
    } catch (error) {
      if (!isOwn(error)) throw error
      failed(error)
      await postpone(means, row, round, error)
    }
  }
  return { count: rows.length, more: rows.length === MOST }
}

/** Not the store's: it works, but does not take this. */
function isOwn(error: unknown): boolean {
  return !isTriarchError(error) || error.code === 'STORE_FAILED' || !error.code.startsWith('STORE_')
}

async function fire(
  { store, node, telemetry }: Means,
  { name, revision, definition: text, state: before, undecoded }: ScheduleRow,
  { now, fence }: Round,
): Promise<void> {
  if (undecoded) throw undecoded
  const definition = JSON.parse(text) as ScheduleDefinition
  const { failing: _, ...known } = JSON.parse(before) as ScheduleState
  const { start, state } = takeDue(name, definition, known, now)
  const { overlap } = definition
  const tasks = start.map((occurrence) => occurrenceTask(name, definition, occurrence, { now, overlap }))
  const nextAt = state.next === null ? null : dueAt(name, definition, state.next)
  const outcomes = await store.writeSchedule({
    ...{ name, expected: revision, tasks, fence, nextAt },
    definition: text,
    state: JSON.stringify({ ...state, started: state.started + tasks.length }),
  })
  const none = outcomes?.filter(({ created }) => !created) ?? []
  const skipped = none.filter(({ heldBy }) => heldBy !== undefined).length
  if (outcomes)
    tell(
      telemetry,
      { name, node, now, nextAt },
      tasks.filter((_, index) => outcomes[index]?.created),
    )
  if (none.length > 0) await count(store, name, { skipped, none: none.length })
}

function tell(
  telemetry: Telemetry,
  { name, node, now, nextAt }: { name: string; node: string; now: number; nextAt: number | null },
  tasks: readonly NewTask[],
): void {
  if (telemetry['task:submitted'].open)
    for (const task of tasks) telemetry['task:submitted'].tell(submission(task, node, name))
  const fired = telemetry['schedule:fired']
  if (fired.open) fired.tell({ at: now, node, schedule: name, tasks: tasks.length, next: nextAt })
}

/** A paused one is looked at again after this (ms), so that it costs the others no place; its occurrences are due as they were. */
const PAUSED = 10_000

async function putOff({ store }: Means, row: ScheduleRow, { now, fence }: Round): Promise<void> {
  const { name, revision, definition, state } = row
  await store.writeSchedule({ name, definition, state, expected: revision, tasks: [], fence, nextAt: now + PAUSED })
}

/** In its row, so that whoever leads next leaves it alone, too. */
async function postpone(
  { store, alert }: Means,
  { name, revision, definition, state: text }: ScheduleRow,
  { now, fence }: Round,
  error: unknown,
): Promise<void> {
  const state = stateOf(text)
  const { since = now, times = 0 } = state.failing ?? {}
  const failing = { since, times: times + 1, error: toRecord(error) }
  const nextAt = now + Math.min(FIRST_REST * 2 ** Math.min(times, 20), LONGEST_REST)
  const write = { name, definition, expected: revision, tasks: [], fence, nextAt }
  const written = await store.writeSchedule({ ...write, state: JSON.stringify({ ...state, failing }) })
  if (written === null || times > 0) return
  const message = `schedule "${name}" cannot start its task: ${failing.error.message}`
  alert({ code: 'SCHEDULE_FAILING', schedule: name, cause: 'schedule', message })
}

function stateOf(text: string): ScheduleState {
  try {
    return JSON.parse(text) as ScheduleState
  } catch {
    return { next: null, last: null, paused: null, started: 0, skipped: 0, missed: 0 }
  }
}

/** Only the store knew which of them would overlap, and which were there already. A count that is lost with its process is all that is lost. */
async function count(
  store: StateStore,
  wanted: string,
  { skipped, none }: { skipped: number; none: number },
): Promise<void> {
  const [row] = await store.schedules({ name: wanted, limit: 1 })
  if (!row) return
  const state = JSON.parse(row.state) as ScheduleState
  const counted = { ...state, started: state.started - none, skipped: state.skipped + skipped }
  const { name, definition, nextAt, revision: expected } = row
  const write = { name, definition, nextAt, expected, tasks: [], fence: null }
  await store.writeSchedule({ ...write, state: JSON.stringify(counted) })
}
