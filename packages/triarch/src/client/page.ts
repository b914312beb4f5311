import type { ListQuery, TaskRow } from '../store/port.ts'
import { infoOf, type TaskInfo } from '../view/status.ts'
import { standingsOf } from '../view/wait.ts'
import type { Connection } from './connection.ts'
import { readRows } from './rows.ts'

/**
 * A page of a list of tasks.
 * @example
 * const page = await triarch.tasks.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.tasks.list({ cursor: page.next })
 */
export interface TaskPage {
  /** The tasks of this page. */
  tasks: TaskInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
  /** The page ended before it was full, because too many tasks had to be inspected: `next` goes on from there. */
  truncated?: true
}

/** Reads until the page is full. `fits`: conditions that the store cannot evaluate. */
export async function readPage(
  connection: Connection,
  query: ListQuery,
  fits?: (row: TaskRow) => boolean,
): Promise<TaskPage> {
  const { rows, next, truncated } = await readRows(connection.store, { ...query, brief: true }, fits)
  const standings = await standingsOf(connection.store, rows, connection.isGone)
  return {
    tasks: rows.map((row) => ({ ...infoOf(row), ...standings.get(row.id) })),
    ...(next !== undefined && { next: String(next) }),
    ...(truncated && { truncated }),
  }
}
