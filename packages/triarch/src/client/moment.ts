import { lastOf, runOf } from '../scheduler/past.ts'
import { momentOf, type TaskMoment } from '../view/moment.ts'
import { present } from '../view/steps.ts'
import type { Connection } from './connection.ts'

/** The task as of a record; of the last one, unless told which. Throws UNKNOWN_TASK, UNKNOWN_RECORD, HISTORY_CORRUPT. */
export async function readMoment(connection: Connection, id: string, seq?: number): Promise<TaskMoment> {
  await connection.row(id)
  const { store, registry } = connection
  const at = seq ?? (await lastOf(store, id, 1))
  const moment = momentOf(id, at, await runOf(store, id, at))
  for (const step of moment.steps) await present(step, registry)
  return moment
}
