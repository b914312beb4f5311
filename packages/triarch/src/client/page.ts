import type { ListQuery, TaskRow } from '../store/port.ts'
import type { TaskInfo } from '../view/status.ts'
import type { Connection } from './connection.ts'

/** The store is asked so often for one page: each time it looks at a few thousand rows at most. */
const MOST_LOOKS = 40
/** Rows that are asked for at once where not all of them may fit. */
const ROWS = 250

/**
 * Some of many tasks.
 * @example
 * const page = await triarch.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.list({ cursor: page.next })
 */
export interface TaskPage {
  /** The tasks of this page. */
  tasks: TaskInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
  /** So much was looked at that the page was given before it was full: `next` goes on from there. */
  truncated?: true
}

/** Looks on until the page is full. `fits`: what the store cannot be asked. */
export async function readPage(
  connection: Connection,
  { after, limit, ...query }: ListQuery,
  fits?: (row: TaskRow) => boolean,
): Promise<TaskPage> {
  const found: TaskRow[] = []
  const page = async (next?: number, truncated?: true): Promise<TaskPage> => ({
    tasks: await Promise.all(found.map((row) => connection.shown(row))),
    ...(next !== undefined && { next: String(next) }),
    ...(truncated && { truncated }),
  })
  let last = after
  for (let looks = 1; ; looks++) {
    const most = fits ? ROWS : limit + 1 - found.length
    const { rows, looked } = await connection.store.list({
      ...query,
      ...(last !== undefined && { after: last }),
      limit: most,
    })
    for (const row of rows) {
      if (!fits || fits(row)) {
        if (found.length === limit) return page(last)
        found.push(row)
      }
      last = row.key
    }
    if (looked === null && rows.length < most) return page()
    last = looked ?? last
    if (looks === MOST_LOOKS) return page(last, found.length < limit ? true : undefined)
  }
}
