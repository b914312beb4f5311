import { TriarchError } from '../error/error.ts'
import { formatFilter, parseFilter } from '../filter/grammar.ts'
import type { StateStore, TaskRow } from '../store/port.ts'
import { conditionsOf } from '../view/condition.ts'
import { fitsTrouble } from '../view/trouble.ts'
import { readRows } from './rows.ts'

/** A count gives up after this many pages that ended early because too many tasks had to be inspected. */
const MOST_PASSED = 5
const PAGE = 250
/** Most tasks that are counted. */
export const MOST_MATCHING = 10_000

/**
 * How many tasks match.
 * @example const { count, truncated }: TaskCount = await triarch.tasks.count({ filter: 'status:paused' })
 */
export interface TaskCount {
  /** The number found. */
  count: number
  /** There may be more. */
  truncated?: true
}

/** Ids of matching tasks, in the filter's order. */
export interface Matching {
  ids: string[]
  /** The key after which to continue; absent: there are no more. */
  next?: number
  /** The page ended before it was full, because too many tasks had to be inspected. */
  truncated?: true
}

type MatchingDeps = { store: Pick<StateStore, 'list'>; now: () => number }

/** Throws INVALID_FILTER. */
export async function matching(
  { store, now }: MatchingDeps,
  { filter: text, after, limit, copy }: { filter: string; after?: number; limit: number; copy?: boolean },
): Promise<Matching> {
  const filter = parseFilter(text)
  const { where, rest: texts } = conditionsOf(filter, now())
  const fits = texts.length > 0 ? (row: TaskRow) => fitsTrouble(row, texts) : undefined
  const query = {
    where,
    limit,
    order: filter.order ?? 'newest',
    ...(after !== undefined && { after }),
    ...(copy && { copy }),
  }
  const { rows, ...rest } = await readRows(store, query, fits)
  return { ids: rows.map(({ id }) => id), ...rest }
}

/** Counts up to `most`. `copy`: a replica may answer, because no decision depends on the result. Throws INVALID_FILTER. */
export async function countMatching(
  means: MatchingDeps,
  filter: string,
  most: number,
  copy = false,
): Promise<TaskCount> {
  let count = 0
  let after: number | undefined
  for (let passed = 0; ; ) {
    const limit = Math.min(PAGE, most - count)
    const page = await matching(means, { filter, limit, copy, ...(after !== undefined && { after }) })
    count += page.ids.length
    after = page.next
    if (after === undefined) return { count }
    if (page.truncated) passed++
    if (count === most || passed === MOST_PASSED) return { count, truncated: true }
  }
}

/** The filter, excluding tasks of workflows whose names begin with `workflows`. Throws INVALID_FILTER. */
export function without(text: string, workflows: string): string {
  if (typeof text !== 'string') throw new TriarchError('INVALID_FILTER', 'a filter is a string')
  const { terms, ...rest } = parseFilter(text)
  const others = {
    field: 'workflow',
    not: true,
    test: { type: 'is', values: [{ text: workflows, prefix: true }] },
  } as const
  return formatFilter({ terms: [...terms, others], ...rest })
}
