import { dueAt, type ScheduleDefinition, type ScheduleState, takeDue } from '../definition/schedule.ts'
import type { Environment } from '../environment/environment.ts'
import { isTriarchError } from '../error/error.ts'
import { toRecord } from '../error/record.ts'
import type { RaisedAlert } from '../kernel/alert.ts'
import type { NewTask, ScheduleRow, StateStore } from '../store/port.ts'
import type { Telemetry } from '../telemetry/outlet.ts'
import { submission } from '../telemetry/submission.ts'
import { occurrenceTask } from './occurrence.ts'

/** Most schedules fired in one round; the rest follow in the next. */
const MOST = 100

/** How long a failed schedule is left alone: after the first failure, and at most (ms). */
const FIRST_REST = 1_000
const LONGEST_REST = 300_000

interface ScheduleRunnerOptions {
  store: StateStore
  node: string
  telemetry: Telemetry
  environment: Pick<Environment, 'now'>
  /** Why a schedule is paused; undefined: it is not. */
  paused?: (schedule: string) => string | undefined
  alert: (alert: RaisedAlert) => void
  failed: (error: unknown) => void
}

interface Round {
  now: number
  fence: { name: string; token: number }
}

/**
 * Starts the due occurrences of schedules, each in one transaction with the schedule's next due time. The leader's token fences the
 * write: a former leader, or a second one, writes nothing. A schedule that cannot start its task is postponed and reported, and does not
 * hold up the others. Resolves to how many schedules were due, and whether there are more.
 */
export async function fireSchedules(
  means: ScheduleRunnerOptions,
  fence: Round['fence'],
): Promise<{ count: number; more: boolean }> {
  const { store, environment, failed } = means
  const rows = await store.schedules({ due: environment.now(), limit: MOST })
  if (rows.length === 0) return { count: 0, more: false }
  // The store's clock decides what is due, so that nothing starts early by the clock of one node.
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

/** Whether the error is the schedule's own fault, not the store's. */
function isOwn(error: unknown): boolean {
  return !isTriarchError(error) || error.code === 'STORE_FAILED' || !error.code.startsWith('STORE_')
}

async function fire(
  { store, node, telemetry }: ScheduleRunnerOptions,
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

/** A paused schedule is checked again after this (ms), so that it does not take the place of others. Its due occurrences stay due. */
const PAUSED = 10_000

async function putOff({ store }: ScheduleRunnerOptions, row: ScheduleRow, { now, fence }: Round): Promise<void> {
  const { name, revision, definition, state } = row
  await store.writeSchedule({ name, definition, state, expected: revision, tasks: [], fence, nextAt: now + PAUSED })
}

/** Postpones the schedule by a write to its row, so that the next leader leaves it alone too. */
async function postpone(
  { store, alert }: ScheduleRunnerOptions,
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

/**
 * Corrects the counts of the schedule, because only the store knew which tasks would overlap and which existed already. If the process
 * dies before, only the correction is lost.
 */
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
