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
  const found = new Pieces(query)
  while (!found.add(await look(found.from))) await new Promise<void>((resolve) => environment.soon(resolve))
  return found.rows
}

/** What was found so far, and where to go on. */
export class Pieces {
  /** Null: from the beginning. */
  from: From = null
  readonly #query: ListQuery
  readonly #found = new Map<number, Map<number, TaskRow>>()
  #looked = 0

  constructor(query: ListQuery) {
    this.#query = query
  }

  /** True: that was all. Throws READ_TOO_COSTLY. */
  add(pieces: readonly ListPiece[]): boolean {
    this.from = pieces.flatMap(({ part, rows, last }) => {
      const own = this.#found.get(part) ?? new Map<number, TaskRow>()
      this.#found.set(part, own)
      for (const row of rows) own.set(row.key, row)
      return last === null || own.size >= this.#query.limit ? [] : [{ part, after: last }]
    })
    if (this.from.length === 0) return true
    if (++this.#looked <= MOST_PIECES) return false
    const text = 'the store would have to look at too much for this: narrow it by status, result, tags or parent'
    throw new TriarchError('READ_TOO_COSTLY', text, { details: { rows: MOST_PIECES * PIECE } })
  }

  /** In their order. One that moved meanwhile may be in two parts. */
  get rows(): TaskRow[] {
    const { order, limit } = this.#query
    const rows = new Map([...this.#found.values()].flatMap((own) => [...own]))
    const sign = order === 'newest' ? -1 : 1
    return [...rows.values()].sort((a, b) => sign * (a.key - b.key)).slice(0, limit)
  }
}
