import { allOf, type Lead, listed, listingOf, MAX_ROWS_EXAMINED, MOST_NAMES, type WorkflowSpan } from '../listing.ts'
import type { ListedTasks, ListQuery, RowColumn, RowCondition, RowTest, TextRange } from '../rows.ts'
import type { Database, SqlValue } from './database.ts'
import { BRIEF_COLUMNS, type SqliteTaskRow, TASK_COLUMNS, taskRow } from './reads.ts'

/** SQL with a parameter for each of its values: no part of a query ever becomes part of the SQL itself. */
interface Clause {
  sql: string
  values: readonly SqlValue[]
}

const TRUE: Clause = { sql: 'TRUE', values: [] }
const rowsBy = (columns: string) =>
  `SELECT ${columns} FROM (SELECT value AS found FROM json_each(?)) CROSS JOIN triarch_tasks ON key = found`
const ROWS = rowsBy(TASK_COLUMNS)
const BRIEF_ROWS = rowsBy(BRIEF_COLUMNS)

const columns: Readonly<Record<Exclude<RowColumn, 'tag'>, string>> = {
  id: 'id',
  workflow: 'workflow',
  version: 'version',
  status: 'status',
  result: 'result',
  parent: 'parent',
  parentStep: 'parent_step',
  lockedBy: 'locked_by',
  priority: 'priority',
  failures: 'failures',
  submittedAt: 'submitted_at',
  updatedAt: 'updated_at',
  ready: 'ready',
  quarantined: 'quarantined',
  troubled: `(result NOT IN ('pending', 'success') OR status = 'paused')`,
}
/** Columns that are boolean. */
const flags: ReadonlySet<RowColumn> = new Set(['ready', 'quarantined', 'troubled'])

/**
 * Lists tasks, newest or oldest first. A page costs what it shows, or one bounded scan if no index lists it, but never
 * a scan of the whole table.
 */
export function list(database: Database, _now: number, query: ListQuery): ListedTasks {
  const { probe, parts, also, instead } = listingOf(query.where)
  const known = probe && few(database, probes(probe))
  if (known) return among(database, query, known)
  const size = Math.ceil(MAX_ROWS_EXAMINED / parts.length)
  const pieces = parts.map((part) => piece(database, query, part, also, size))
  const rows = rowsOf(
    database,
    pieces.flatMap(({ keys }) => keys),
    query,
  )
  const page = listed(
    rows,
    pieces.map(({ last }) => last),
    query,
  )
  const fewer = page.looked !== null && instead ? few(database, instead.map(wholly)) : null
  return fewer ? among(database, query, fewer) : page
}

function rowsOf(database: Database, keys: readonly number[], { brief }: ListQuery) {
  return database.all<SqliteTaskRow>(brief ? BRIEF_ROWS : ROWS, JSON.stringify(keys)).map(taskRow)
}

/** Returns the keys that these clauses select; null if there are more than one call examines, or one of them is null. */
function few(database: Database, from: readonly Clause[]): readonly number[] | null {
  const sql = `${from.map((it) => it.sql).join(' UNION ALL ')} LIMIT ? + 0`
  const rows = database.once<{ found: number | null }>(
    sql,
    ...from.flatMap(({ values }) => values),
    MAX_ROWS_EXAMINED + 1,
  )
  return allOf(rows.map(({ found }) => found))
}

/** Returns one query for each alternative, because each can use an index. */
function probes({ column, tag = '', test }: RowCondition): Clause[] {
  const [source, key, name] =
    column === 'tag' ? ['triarch_tags', 'task', [{ sql: 'name = ?', values: [tag] }]] : ['triarch_tasks', 'key', []]
  return alternatives(column === 'tag' ? 'value' : columns.id, test).map((it) => {
    const { sql, values } = all([...name, it])
    return { sql: `SELECT ${key} AS found FROM ${source} WHERE ${sql}`, values }
  })
}

/** Returns a query for all keys of a part. */
function wholly(part: Lead | WorkflowSpan): Clause {
  if (part.by === 'workflow') return spanning(part)
  const { source, by, clause } = leading(part)
  return { sql: `SELECT ${by} AS found FROM ${source} WHERE ${clause.sql}`, values: clause.values }
}

/** Returns the page from these keys, which include all tasks that fit. */
function among(database: Database, query: ListQuery, keys: readonly number[]): ListedTasks {
  const order = orderOf(query)
  const { sql, values } = all([behind('key', query), ...query.where.map(condition)])
  const statement = `SELECT key AS found FROM (SELECT value AS wanted FROM json_each(?)) CROSS JOIN triarch_tasks ON key = wanted
WHERE ${sql} GROUP BY key ORDER BY key ${order} LIMIT ? + 0`
  const found = database.once<{ found: number }>(statement, JSON.stringify(keys), ...values, query.limit)
  return listed(
    rowsOf(
      database,
      found.map((it) => it.found),
      query,
    ),
    [],
    query,
  )
}

/** Reads a page of one part. `last`: the last examined key, if there may be more behind it and the page is not full. */
function piece(
  database: Database,
  query: ListQuery,
  part: Lead,
  also: readonly RowCondition[],
  size: number,
): { keys: number[]; last: number | null } {
  const order = orderOf(query)
  const { source, by, clause } = leading(part)
  const { sql, values } = all([clause, behind(by, query)])
  const walk = `SELECT ${by} AS found FROM ${source} WHERE ${sql} ORDER BY ${by} ${order} LIMIT ? + 0`
  const rest = all(also.map(condition))
  if (also.length === 0)
    return { keys: database.all<{ found: number }>(walk, ...values, query.limit).map((it) => it.found), last: null }
  const some = `SELECT found FROM (${walk}) CROSS JOIN triarch_tasks ON key = found WHERE ${rest.sql}
ORDER BY found ${order} LIMIT ? + 0`
  const keys = database
    .once<{ found: number }>(some, ...values, size, ...rest.values, query.limit)
    .map((it) => it.found)
  if (keys.length === query.limit) return { keys, last: null }
  const last = database.get<{ found: number }>(`${walk} OFFSET ?`, ...values, 1, size - 1)?.found
  return { keys, last: last ?? null }
}

/**
 * The workflows that have tasks, in the order of an index: each is found by one lookup behind the previous one,
 * whatever the number of their tasks.
 */
const NAMES = `WITH RECURSIVE names (name, nth) AS (
  SELECT * FROM (SELECT workflow, 1 FROM triarch_tasks ORDER BY workflow LIMIT 1) UNION ALL
  SELECT (SELECT workflow FROM triarch_tasks WHERE workflow > name ORDER BY workflow LIMIT 1), nth + 1 FROM names
  WHERE name IS NOT NULL AND nth <= ${MOST_NAMES})`

function spanning({ value, submittedAt }: WorkflowSpan): Clause {
  const within = alternatives(columns.submittedAt, submittedAt)
  if (value !== null) {
    const { sql, values } = all([{ sql: 'workflow = ?', values: [value] }, ...within])
    return { sql: `SELECT key AS found FROM triarch_tasks WHERE ${sql}`, values }
  }
  const { sql, values } = all(within)
  const walk = `${NAMES} SELECT key AS found FROM names CROSS JOIN triarch_tasks ON workflow = name AND ${sql} WHERE nth <= ${MOST_NAMES}
UNION ALL SELECT NULL FROM names WHERE name IS NOT NULL AND nth > ${MOST_NAMES}`
  return { sql: `SELECT found FROM (${walk})`, values }
}

function leading(part: Lead): { source: string; by: string; clause: Clause } {
  const of = (sql: string, ...values: SqlValue[]) => ({ source: 'triarch_tasks', by: 'key', clause: { sql, values } })
  switch (part.by) {
    case 'tag': {
      const clause = { sql: 'tag.name = ? AND tag.value = ?', values: [part.name, part.value] }
      return { source: 'triarch_tags AS tag', by: 'tag.task', clause }
    }
    case 'parent':
      return of('parent = ?', part.value)
    case 'lockedBy':
      return of('locked_by = ?', part.value)
    case 'status':
      return of(`status <> 'stopped' AND status = '' || ?`, part.value)
    case 'result':
      return of(`result NOT IN ('pending', 'success') AND result = ?`, part.value)
    case 'paused':
      return of(`status <> 'stopped' AND status = 'paused' AND result IN ('pending', 'success')`)
    case 'quarantined':
      return of('quarantined = 1')
    case 'all':
      return { source: 'triarch_tasks', by: 'key', clause: TRUE }
  }
}

function behind(by: string, query: ListQuery): Clause {
  if (query.after === undefined) return TRUE
  return { sql: `${by} ${query.order === 'newest' ? '<' : '>'} ?`, values: [query.after] }
}

function orderOf({ order }: ListQuery): 'ASC' | 'DESC' {
  return order === 'newest' ? 'DESC' : 'ASC'
}

function condition({ column, tag, not, test }: RowCondition): Clause {
  const clause =
    column === 'tag' ? tagged(tag ?? '', test) : any(alternatives(columns[column], test, flags.has(column)))
  // A condition on a missing value is NULL, which does not hold; its negation does.
  return not ? { ...clause, sql: `(${clause.sql}) IS NOT TRUE` } : clause
}

/** A range of values cannot be looked up in the index for one task; the row has the tags too. */
function tagged(name: string, test: RowTest): Clause {
  const value = any(alternatives('value', test))
  if (test.type === 'text' && !test.within)
    return {
      sql: `EXISTS (SELECT 1 FROM triarch_tags WHERE name = ? AND ${value.sql} AND task = triarch_tasks.key)`,
      values: [name, ...value.values],
    }
  return {
    sql: `EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(tags) THEN tags ELSE '{}' END) AS tag
WHERE tag.key = ? AND ${value.sql})`,
    values: [name, ...value.values],
  }
}

/** Returns clauses of which one must hold. */
function alternatives(column: string, test: RowTest, flag = false): Clause[] {
  switch (test.type) {
    case 'given':
      return [{ sql: flag ? `${column} = 1` : `${column} IS NOT NULL`, values: [] }]
    case 'number':
      return [
        all([
          ...(test.least === undefined ? [] : [{ sql: `${column} >= ?`, values: [test.least] }]),
          ...(test.most === undefined ? [] : [{ sql: `${column} <= ?`, values: [test.most] }]),
        ]),
      ]
    case 'text': {
      const given = { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [JSON.stringify(test.oneOf)] }
      return [given, ...(test.within ?? []).map((range) => between(column, range))]
    }
  }
}

function between(column: string, { from, to }: TextRange): Clause {
  if (to === null) return { sql: `${column} >= ?`, values: [from] }
  return { sql: `${column} >= ? AND ${column} < ?`, values: [from, to] }
}

function all(clauses: readonly Clause[]): Clause {
  const given = clauses.filter((it) => it !== TRUE)
  if (given.length === 0) return TRUE
  return { sql: given.map(({ sql }) => `(${sql})`).join(' AND '), values: given.flatMap(({ values }) => values) }
}

function any(clauses: readonly Clause[]): Clause {
  return { sql: `(${clauses.map(({ sql }) => sql).join(' OR ')})`, values: clauses.flatMap(({ values }) => values) }
}
