import type { Environment } from '../../environment/environment.ts'
import { TriarchError } from '../../error/error.ts'
import type { ListQuery, TaskRow } from '../port.ts'
import { type ListPiece, PIECE } from './list.ts'

/** Pieces of one list: after a million rows the answer is that it is too much. */
const MOST_PIECES = 200

type From = readonly { part: number; after: number }[] | null

/**
 * A list, piece by piece, with others' turns in between: a table of any size is held for a few milliseconds at a time, and not
 * looked through without end. Throws READ_TOO_COSTLY.
 */
export async function listing(
  environment: Environment,
  query: ListQuery,
  look: (from: From) => Promise<ListPiece[]>,
): Promise<TaskRow[]> {
  const found = new Map<number, Map<number, TaskRow>>()
  let from: From = null
  for (let looked = 0; ; looked++) {
    const pieces = await look(from)
    for (const { part, rows } of pieces) {
      const own = found.get(part) ?? new Map<number, TaskRow>()
      found.set(part, own)
      for (const row of rows) own.set(row.key, row)
    }
    from = pieces.flatMap(({ part, last }) =>
      last === null || (found.get(part)?.size ?? 0) >= query.limit ? [] : [{ part, after: last }],
    )
    if (from.length === 0) break
    if (looked >= MOST_PIECES) {
      const text = 'the store would have to look at too much for this: narrow it by status, result, tags or parent'
      throw new TriarchError('READ_TOO_COSTLY', text, { details: { rows: looked * PIECE } })
    }
    await new Promise<void>((resolve) => environment.soon(resolve))
  }
  // One that moved meanwhile may be in two parts.
  const rows = new Map([...found.values()].flatMap((own) => [...own]))
  const sign = query.order === 'newest' ? -1 : 1
  return [...rows.values()].sort((a, b) => sign * (a.key - b.key)).slice(0, query.limit)
}
