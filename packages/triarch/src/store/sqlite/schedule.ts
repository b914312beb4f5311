import type { Audited } from '../audit.ts'
import type { ScheduleQuery, ScheduleRow, ScheduleWrite, SubmitOutcome } from '../port.ts'
import { keepAct, withAct } from './audit.ts'
import type { Database } from './database.ts'
import { insertTasks } from './submit.ts'
import { LEADS } from './sweep.ts'

const COLUMNS = 'name, revision, definition, state, next_at AS nextAt'
const DUE = `SELECT ${COLUMNS} FROM triarch_schedules WHERE next_at <= ? ORDER BY next_at, name LIMIT ? + 0`
const ONE = `SELECT ${COLUMNS} FROM triarch_schedules WHERE name = ? LIMIT ? + 0`
const ALL = `SELECT ${COLUMNS} FROM triarch_schedules WHERE name > ? ORDER BY name LIMIT ? + 0`
const CREATE = `
INSERT INTO triarch_schedules (name, revision, definition, state, next_at) VALUES (?, 1, ?, ?, ?) ON CONFLICT DO NOTHING`
const UPDATE = `
UPDATE triarch_schedules SET revision = revision + 1, definition = ?, state = ?, next_at = ?
WHERE name = ? AND revision = ?`
const DROP = 'DELETE FROM triarch_schedules WHERE name = ?'

export function schedules(database: Database, _now: number, query: ScheduleQuery): ScheduleRow[] {
  const { limit } = query
  const rows =
    'due' in query
      ? database.all<ScheduleRow>(DUE, query.due, limit)
      : 'name' in query
        ? database.all<ScheduleRow>(ONE, query.name, limit)
        : database.all<ScheduleRow>(ALL, query.after, limit)
  return rows.map((row) => ({ ...row }))
}

export function writeSchedule(
  database: Database,
  now: number,
  { name, expected, definition, state, nextAt, tasks, fence, audit }: ScheduleWrite,
): SubmitOutcome[] | null {
  return database.transaction(() => {
    if (fence && !database.get(LEADS, fence.name, fence.token, now)) return null
    const written =
      expected === null
        ? database.run(CREATE, name, definition, state, nextAt)
        : database.run(UPDATE, definition, state, nextAt, name, expected)
    if (written === 0) return null
    if (audit) keepAct(database, audit)
    return insertTasks(database, tasks)
  })
}

export function dropSchedule(database: Database, _now: number, name: string, acted: Audited | null = null): boolean {
  return withAct(database, acted, Boolean, () => database.run(DROP, name) > 0)
}
