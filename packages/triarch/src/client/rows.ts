import type { ListQuery, StateStore, TaskRow } from '../store/port.ts'

/** Most store calls for one page; each inspects a few thousand rows at most. */
const MOST_LOOKS = 40
/** Rows per call if not all of them may fit. */
const ROWS = 250

/** A page of rows, and the key after which the next one begins. */
export interface RowPage {
  rows: TaskRow[]
  next?: number
  truncated?: true
}

/** Reads until the page is full. `fits`: conditions that the store cannot evaluate. */
export async function readRows(
  store: Pick<StateStore, 'list'>,
  { after, limit, ...query }: ListQuery,
  fits?: (row: TaskRow) => boolean,
  mostLooks: number = MOST_LOOKS,
): Promise<RowPage> {
  const found: TaskRow[] = []
  const page = (next?: number, truncated?: true): RowPage => ({
    rows: found,
    ...(next !== undefined && { next }),
    ...(truncated && { truncated }),
  })
  let last = after
  for (let looks = 1; ; looks++) {
    const most = fits ? ROWS : limit + 1 - found.length
    const { rows, looked } = await store.list({ ...query, ...(last !== undefined && { after: last }), limit: most })
    for (const row of rows) {
      if (!fits || fits(row)) {
        if (found.length === limit) return page(last)
        found.push(row)
      }
      last = row.key
    }
    if (looked === null && rows.length < most) return page()
    last = looked ?? last
    if (looks === mostLooks) return page(last, found.length < limit ? true : undefined)
  }
}
