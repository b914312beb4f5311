import type { ListedTasks, ListQuery, RowColumn, RowCondition, RowTest, TaskRow } from './rows.ts'

/** Rows that one look goes through, of a query that not all of them may fit: it holds the store for so long. */
export const LOOK = 5_000

/** Parts that are merged, each from an index of its own. */
const MOST_PARTS = 10

/** What an index lists in the order of the keys. `paused`: those whose result is pending or success. */
export type Lead =
  | { by: 'tag'; name: string; value: string }
  | { by: 'parent' | 'lockedBy' | 'status' | 'result'; value: string }
  | { by: 'quarantined' | 'paused' | 'all' }

/** Names of workflows that are gone through for a span of all of them; where there are more, nobody knows what it has. */
export const MOST_NAMES = 200

/** What an index lists in the order in which they were submitted, which is not quite that of the keys: of a workflow, from one instant to another (ms). */
export interface Span {
  /** What tells it from a lead. */
  by: 'workflow'
  /** Its name; null: of each that has tasks. */
  value: string | null
  /** The first and the last instant, if given; of all workflows one is. */
  submittedAt: Extract<RowTest, { type: 'number' }>
}

/** How a list is had: the same on every store. */
export interface Listing {
  /** An index knows who fits this, in another order: if these are no more than one look, they are all there is to look at. */
  probe: RowCondition | null
  /** No task is in two of them. */
  parts: readonly Lead[]
  /** What each row of the parts must be besides. */
  also: readonly RowCondition[]
  /** Where the parts were more than one look: all that fits is in these, too, and if they are no more than one, they are looked at. */
  instead: readonly (Lead | Span)[] | null
}

/** Results that few tasks have, compared with all there are: an index lists them. */
const rare = ['warning', 'error', 'cancelled', 'compensated']

/**
 * What leads: the first of the conditions that an index lists in the order of the keys, from what few tasks have to what many
 * have; the rest is asked of each row.
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

/** The columns by which a list can be led, in this order. */
const columns: readonly RowColumn[] = ['quarantined', 'tag', 'parent', 'lockedBy', 'result', 'status', 'troubled']
/** What is said of many tasks, or of few: what a probe finds may be less. */
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

/** Null: no index lists it in the order of the keys. */
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

/** Null: they may be of any workflow and any time. */
function spansOf(where: readonly RowCondition[]): readonly Span[] | null {
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

/** The values of which it is one; null: it need not be one of these. */
function exactly({ test }: RowCondition): readonly string[] | null {
  return test.type === 'text' && (test.within ?? []).length === 0 ? [...new Set(test.oneOf)] : null
}

/** The keys, where they are all: no more than one look goes through, and none of them null. */
export function allOf(keys: readonly (number | null)[]): readonly number[] | null {
  return keys.length <= LOOK && keys.every((key) => key !== null) ? keys : null
}

/**
 * The page, of what was found in the parts. `ends`: of each part that was not looked through, the last key that was looked at. Only
 * as far as all of them were is the page without a gap.
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
