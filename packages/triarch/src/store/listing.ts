import type { ListedTasks, ListQuery, RowColumn, RowCondition, RowTest, TaskRow } from './rows.ts'

/** Most rows that one call examines for a query that some of them may not fit; this bounds how long it occupies the store. */
export const MAX_ROWS_EXAMINED = 5_000

/** Most parts that are merged, each read from an index of its own. */
const MOST_PARTS = 10

/** An index scan in the order of the keys. `paused`: paused tasks whose result is pending or success. */
export type Lead =
  | { by: 'tag'; name: string; value: string }
  | { by: 'parent' | 'lockedBy' | 'status' | 'result'; value: string }
  | { by: 'quarantined' | 'paused' | 'all' }

/** Most names of workflows over which a span of all workflows is read; where there are more, the span is not used. */
export const MOST_NAMES = 200

/**
 * An index scan in the order of submission, which is not quite that of the keys: the tasks of a workflow submitted
 * between two instants (ms).
 */
export interface WorkflowSpan {
  /** Distinguishes it from a lead. */
  by: 'workflow'
  /** The name of the workflow; null: every workflow that has tasks. */
  value: string | null
  /** The first and the last instant, if given; for all workflows at least one is given. */
  submittedAt: Extract<RowTest, { type: 'number' }>
}

/** The plan for a list, the same on every store. */
export interface Listing {
  /** A condition for which an index exists, in another order: if no more rows fit it than one call examines, only they are examined. */
  probe: RowCondition | null
  /** Index scans whose results are merged; no task is in two of them. */
  parts: readonly Lead[]
  /** The other conditions, which are tested on each row of the parts. */
  also: readonly RowCondition[]
  /**
   * Used if the parts have more rows than one call examines: all rows that fit are in these scans too, and if these
   * have no more rows than one call examines, they are read instead.
   */
  instead: readonly (Lead | WorkflowSpan)[] | null
}

/** Results that few tasks have, and for which there is an index. */
const rare = ['warning', 'error', 'cancelled', 'compensated']

/**
 * Plans a list. The first condition with an index in the order of the keys becomes the scan, conditions that few tasks
 * fit before those that many fit; the other conditions are tested on each row.
 */
export function listingOf(where: readonly RowCondition[]): Listing {
  const id = where.find(({ column, not }) => column === 'id' && !not)
  if (id && exactly(id)) return { ...all(where), probe: id }
  const spans = spansOf(where)
  const led = lead(where, columns)
  if (led && !late.includes(led.condition.column)) {
    const { parts = [] } = lead(where, late) ?? {}
    return { ...behind(where, led), probe: null, instead: parts.length > 0 ? parts : spans }
  }
  const probe = id ?? where.find(({ column, not }) => column === 'tag' && !not) ?? null
  return { ...(led ? behind(where, led) : all(where)), probe, instead: spans }
}

/** The columns that can become the scan, in order of preference. */
const columns: readonly RowColumn[] = ['quarantined', 'tag', 'parent', 'lockedBy', 'result', 'status', 'troubled']
/** Columns whose values many tasks may have: a probe may find fewer rows. */
const late: readonly RowColumn[] = ['result', 'status', 'troubled']

interface Led {
  condition: RowCondition
  parts: readonly Lead[]
}

function lead(where: readonly RowCondition[], by: readonly RowColumn[]): Led | null {
  for (const column of by) {
    for (const condition of where) {
      const parts = condition.column === column && !condition.not ? partsOf(condition) : null
      if (parts) return { condition, parts }
    }
  }
  return null
}

function behind(where: readonly RowCondition[], { condition, parts }: Led): Pick<Listing, 'parts' | 'also'> {
  return { parts, also: where.filter((it) => it !== condition) }
}

function all(where: readonly RowCondition[]): Omit<Listing, 'probe'> {
  return { parts: [{ by: 'all' }], also: where, instead: null }
}

/** Returns null if no index lists it in the order of the keys. */
function partsOf(condition: RowCondition): readonly Lead[] | null {
  const { column, tag: name = '', test } = condition
  if (column === 'quarantined' && test.type === 'given') return [{ by: column }]
  if (column === 'troubled' && test.type === 'given')
    return [...rare.map((value) => ({ by: 'result' as const, value })), { by: 'paused' }]
  const values = exactly(condition)
  if (!values || values.length > MOST_PARTS) return null
  switch (column) {
    case 'tag':
      return values.map((value) => ({ by: column, name, value }))
    case 'result':
      return values.every((it) => rare.includes(it)) ? values.map((value) => ({ by: column, value })) : null
    case 'status':
      return values.includes('stopped') ? null : values.map((value) => ({ by: column, value }))
    case 'parent':
    case 'lockedBy':
      return values.map((value) => ({ by: column, value }))
    default:
      return null
  }
}

/** Returns null if the tasks may be of any workflow and any time. */
function spansOf(where: readonly RowCondition[]): readonly WorkflowSpan[] | null {
  const condition = where.find((it) => it.column === 'workflow' && !it.not && exactly(it))
  const named = condition ? (exactly(condition) ?? []) : []
  const edges = where.flatMap(({ column, not, test }) =>
    column === 'submittedAt' && !not && test.type === 'number' ? [test] : [],
  )
  const least = Math.max(...edges.flatMap((it) => it.least ?? []))
  const most = Math.min(...edges.flatMap((it) => it.most ?? []))
  const within = { ...(Number.isFinite(least) && { least }), ...(Number.isFinite(most) && { most }) }
  const values = named.length > 0 && named.length <= MOST_PARTS ? named : [null]
  if (values[0] === null && edges.length === 0) return null
  return values.map((value) => ({ by: 'workflow', value, submittedAt: { type: 'number', ...within } }))
}

/** Returns the values of which the column must have one; null if it may have others. */
function exactly({ test }: RowCondition): readonly string[] | null {
  return test.type === 'text' && (test.within ?? []).length === 0 ? [...new Set(test.oneOf)] : null
}

/** Returns the keys if they are complete: no more than one call examines, and none of them null. */
export function allOf(keys: readonly (number | null)[]): readonly number[] | null {
  return keys.length <= MAX_ROWS_EXAMINED && keys.every((key) => key !== null) ? keys : null
}

/**
 * Returns the page, made of the rows found in the parts. `ends`: of each part that was not read to its end, the last
 * key that was examined. The page has no gap only as far as all parts were examined.
 */
export function listed(
  rows: readonly TaskRow[],
  ends: readonly (number | null)[],
  { order, limit }: Pick<ListQuery, 'order' | 'limit'>,
): ListedTasks {
  const sign = order === 'newest' ? -1 : 1
  const open = ends.flatMap((end) => end ?? []).sort((a, b) => sign * (a - b))
  const looked = open[0] ?? null
  const page = rows
    .filter(({ key }) => looked === null || sign * (key - looked) <= 0)
    .sort((a, b) => sign * (a.key - b.key))
    .slice(0, limit)
  return { rows: page, looked: page.length === limit ? null : looked }
}
