import type { TaskResult, TaskStatus } from '../../kernel/status.ts'
import type { ListQuery, TaskRow } from '../port.ts'
import type { Database, Value } from './database.ts'
import { type StoredTask, TASK_COLUMNS, taskRow } from './reads.ts'

/** Rows that one call looks at, of a query that not all of them may fit: it holds the store for so long. */
export const PIECE = 5_000

/** Conditions of one query, joined by AND, with their values. */
interface Filter {
  conditions: string[]
  values: Value[]
}

const ROWS = `SELECT ${TASK_COLUMNS} FROM (SELECT value AS found FROM json_each(?)) CROSS JOIN triarch_tasks ON key = found`

/** A piece of one part of the answer. */
export interface ListPiece {
  part: number
  rows: TaskRow[]
  /** The last key that was looked at, where there is more behind it; null: there is not, or the page is full. */
  last: number | null
}

/**
 * Newest or oldest first. Statuses and results that an index lists in this order are asked one by one and merged, so
 * that a page costs what it shows and not what the table holds. What no index lists is looked at piece by piece: `from` says
 * which parts go on, and behind which key.
 */
export function listPiece(
  database: Database,
  _now: number,
  query: ListQuery,
  from?: readonly { part: number; after: number }[] | null,
): ListPiece[] {
  const parts = partition(query)
  const wanted = from ?? parts.map((_, part) => ({ part, after: query.after }))
  const size = Math.ceil(PIECE / wanted.length)
  return wanted.map(({ part, after }) => ({ part, ...piece(database, { ...query, after }, parts[part] as Part, size) }))
}

/** What an index lists in the order of the keys, and what besides each of its rows must be. */
interface Part {
  listed: Filter
  also: Filter
}

const NONE: Filter = { conditions: [], values: [] }

function partition({ status, result }: ListQuery): Part[] {
  const statuses = several<TaskStatus>(status)
  const results = several<TaskResult>(result)
  const rare = results?.every((it) => it !== 'pending' && it !== 'success')
  if (results && rare) {
    const also = statuses ? oneOf('status', statuses) : NONE
    return results.map((it) => {
      return { listed: { conditions: ["result NOT IN ('pending', 'success')", 'result = ?'], values: [it] }, also }
    })
  }
  const also = results ? oneOf('result', results) : NONE
  if (!statuses) return [{ listed: NONE, also }]
  if (statuses.includes('stopped')) return [{ listed: NONE, also: both(oneOf('status', statuses), also) }]
  return statuses.map((it) => {
    return { listed: { conditions: ["status <> 'stopped'", 'status = ?'], values: [it] }, also }
  })
}

function piece(
  database: Database,
  query: Omit<ListQuery, 'after'> & { after: number | undefined },
  part: Part,
  size: number,
): Omit<ListPiece, 'part'> {
  const { source, by, listed, also } = leading(query, part.listed, both(part.also, filters(query)))
  const order = query.order === 'newest' ? 'DESC' : 'ASC'
  const behind: Filter =
    query.after === undefined
      ? NONE
      : { conditions: [`${by} ${order === 'DESC' ? '<' : '>'} ?`], values: [query.after] }
  const { conditions, values } = both(listed, behind)
  const all = `SELECT ${by} AS found FROM ${source} ${where(conditions)} ORDER BY ${by} ${order} LIMIT ?`
  const whole = also.conditions.length === 0
  const some = `SELECT found FROM (${all}) CROSS JOIN triarch_tasks ON key = found ${where(also.conditions)}
ORDER BY found ${order} LIMIT ?`
  const given = whole ? [...values, query.limit] : [...values, size, ...also.values, query.limit]
  const keys = database.all<{ found: number }>(whole ? all : some, ...given).map(({ found }) => found)
  const rows = database.all<StoredTask>(ROWS, JSON.stringify(keys)).map(taskRow)
  if (whole || keys.length === query.limit) return { rows, last: null }
  const last = database.get<{ found: number }>(`${all} OFFSET ?`, ...values, 1, size - 1)?.found
  return { rows, last: last ?? null }
}

/** What leads: a tag, a parent, the quarantine, or what the part says; the rest is asked of each row. */
function leading(
  query: Pick<ListQuery, 'tags' | 'parent' | 'quarantined'>,
  listed: Filter,
  also: Filter,
): { source: string; by: string; listed: Filter; also: Filter } {
  const [first, ...tags] = Object.entries(query.tags ?? {})
  const rest = tags.reduce((filter, tag) => {
    return both(filter, {
      conditions: ['EXISTS (SELECT 1 FROM triarch_tags WHERE name = ? AND value = ? AND task = key)'],
      values: tag,
    })
  }, also)
  const parent: Filter = query.parent === undefined ? NONE : { conditions: ['parent = ?'], values: [query.parent] }
  const apart: Filter = query.quarantined ? { conditions: ['quarantined = 1'], values: [] } : NONE
  const others = [parent, apart, listed].filter(({ conditions }) => conditions.length > 0)
  const joined = (filters: Filter[]) => filters.reduce(both, rest)
  if (first) {
    const tag = { conditions: ['tag.name = ?', 'tag.value = ?'], values: first }
    return { source: 'triarch_tags AS tag', by: 'tag.task', listed: tag, also: joined(others) }
  }
  const [lead = NONE, ...behind] = others
  return { source: 'triarch_tasks', by: 'key', listed: lead, also: joined(behind) }
}

function where(conditions: readonly string[]): string {
  return conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
}

function filters({ workflow, version, parentStep, submittedAfter, submittedBefore }: Omit<ListQuery, 'after'>): Filter {
  const wanted: [string, Value | undefined][] = [
    ['workflow = ?', workflow],
    ['version = ?', version],
    ['(parent_step = ? OR parent_step IS NULL)', parentStep],
    ['submitted_at > ?', submittedAfter],
    ['submitted_at < ?', submittedBefore],
  ]
  const given = wanted.filter((it): it is [string, Value] => it[1] !== undefined)
  return { conditions: given.map(([condition]) => condition), values: given.map(([, value]) => value) }
}

function several<T extends string>(given: T | readonly T[] | undefined): readonly T[] | undefined {
  return typeof given === 'string' ? [given] : given && [...new Set(given)]
}

function oneOf(column: string, values: readonly string[]): Filter {
  return { conditions: [`${column} IN (SELECT value FROM json_each(?))`], values: [JSON.stringify(values)] }
}

function both(a: Filter, b: Filter): Filter {
  return { conditions: [...a.conditions, ...b.conditions], values: [...a.values, ...b.values] }
}
