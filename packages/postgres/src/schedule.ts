import type { ScheduleRow, ScheduleWrite, SubmitOutcome } from 'triarch/store'
import type { Row } from './query.ts'
import { gatesOfTasks, submitOutcomes, taskArrays } from './submit.ts'

const SELECT = 'SELECT s.name, s.revision, s.definition, s.state, s.next_at FROM triarch.schedules s'
export const SCHEDULES_DUE: string = `${SELECT} WHERE s.next_at <= $1 ORDER BY s.next_at, s.name LIMIT $2`
export const SCHEDULE_NAMED: string = `${SELECT} WHERE s.name = $1 LIMIT $2`
export const SCHEDULES_AFTER: string = `${SELECT} WHERE s.name > $1 ORDER BY s.name LIMIT $2`
export const DROP_SCHEDULE = 'DELETE FROM triarch.schedules s WHERE s.name = $1 RETURNING 1'

export function scheduleOf(row: Row): ScheduleRow {
  const [name, revision, definition, state, nextAt] = row as [string, number, string, string, number | null]
  return { name, revision, definition, state, nextAt }
}

/** The parameters of `triarch.write_schedule` after the instant. */
export function scheduleArguments(write: ScheduleWrite): unknown[] {
  const { name, expected, definition, state, nextAt, tasks, fence } = write
  return [
    ...[name, expected, definition, state, nextAt, fence?.name ?? null, fence?.token ?? null],
    ...taskArrays(tasks),
    gatesOfTasks(tasks),
  ]
}

export function scheduleOutcomes(row: Row | undefined): SubmitOutcome[] | null {
  const [answer, , refused] = (row ?? []) as [string, string | null, string | null]
  if (answer === 'no') return null
  return answer === '' ? [] : submitOutcomes(answer, refused)
}
