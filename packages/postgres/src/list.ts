import {
  type Lead,
  type ListedTasks,
  type Listing,
  type ListQuery,
  listed,
  MAX_ROWS_EXAMINED,
  MOST_NAMES,
  type RowColumn,
  type RowCondition,
  type RowTest,
  type TextRange,
  type WorkflowSpan,
} from 'triarch/store'
import { literal } from './arrays.ts'
import type { Row } from './query.ts'
import { BRIEF_COLUMNS, TASK_COLUMNS, taskOf } from './reads.ts'

type Value = string | number

/** A statement with a parameter for each of its values: no part of a query ever becomes part of the SQL itself. */
export interface ListStatement {
  sql: string
  values: Value[]
}

const columns: Readonly<Record<Exclude<RowColumn, 'tag'>, string>> = {
  id: 't.id',
  workflow: 't.workflow',
  version: 't.version',
  status: 't.status',
  result: 't.result',
  parent: 't.parent',
  parentStep: 't.parent_step',
  lockedBy: 't.locked_by',
  priority: 't.priority',
  failures: 't.failures',
  submittedAt: 't.submitted_at',
  updatedAt: 't.updated_at',
  ready: 't.ready',
  quarantined: 't.quarantined',
  troubled: `(t.result NOT IN ('pending', 'success') OR t.status = 'paused')`,
}
/** Columns that are boolean. */
const flags: ReadonlySet<RowColumn> = new Set(['ready', 'quarantined', 'troubled'])

/** Selects the keys of all rows that fit, or one more than a call examines. */
export function probeStatement({ column, tag = '', test }: RowCondition): ListStatement {
  const writer = new Writer()
  const [source, key, field, name] =
    column === 'tag'
      ? ['triarch.tags', 'task', 'value', `name = ${writer.value(tag)} AND `]
      : ['triarch.tasks t', 't.key', columns.id, '']
  // One query for each alternative, because each can use an index.
  const found = writer
    .alternatives(field, test)
    .map((it) => `SELECT ${key} AS found FROM ${source} WHERE ${name}${it}`)
    .join(' UNION ALL ')
  return writer.written(`${found} LIMIT ${MAX_ROWS_EXAMINED + 1}`)
}

/** Selects the keys of all rows in these parts, or one more than a call examines; a null among them: there may be others. */
export function fewStatement(parts: readonly (Lead | WorkflowSpan)[]): ListStatement {
  const writer = new Writer()
  const found = parts.map((part) => {
    if (part.by === 'workflow') return writer.spanning(part)
    const { source, by, clauses } = writer.leading(part)
    return `SELECT ${by} AS found FROM ${source} WHERE ${clauses.join(' AND ')}`
  })
  return writer.written(`${found.join(' UNION ALL ')} LIMIT ${MAX_ROWS_EXAMINED + 1}`)
}

function columnsOf(brief: boolean | undefined): string {
  return brief ? BRIEF_COLUMNS : TASK_COLUMNS
}

/** Selects the rows with these keys that fit, in order. */
export function amongStatement(
  { where, order, after, limit, brief }: ListQuery,
  keys: readonly number[],
): ListStatement {
  const writer = new Writer()
  const conditions = [
    `t.key = ANY (${writer.value(literal(keys))})`,
    ...writer.behind('t.key', order, after),
    ...where.map((it) => writer.condition(it)),
  ]
  return writer.written(`SELECT ${columnsOf(brief)}, NULL::bigint FROM triarch.tasks t
WHERE ${conditions.join(' AND ')} ORDER BY t.key ${direction(order)} LIMIT ${writer.value(limit)}`)
}

/**
 * Selects a page, merged from one branch for each part, each read from an index in this order. If there are further
 * conditions, each branch examines no more than its share. Each row, or the only one if none fits, ends with the key up
 * to which all branches were examined.
 */
export function listStatement(
  { order, after, limit, brief }: Pick<ListQuery, 'order' | 'after' | 'limit' | 'brief'>,
  { parts, also }: Pick<Listing, 'parts' | 'also'>,
): ListStatement {
  const writer = new Writer()
  const size = Math.ceil(MAX_ROWS_EXAMINED / parts.length)
  const most = writer.value(limit)
  const walks = parts.map((part) => {
    const { source, by, clauses } = writer.leading(part)
    const where = [...clauses, ...writer.behind(by, order, after)]
    const rest = `FROM ${source} ${where.length > 0 ? `WHERE ${where.join(' AND ')} ` : ''}ORDER BY ${by} ${direction(order)}`
    return { by, rest }
  })
  const conditions = also.map((it) => writer.condition(it)).join(' AND ')
  const branches = walks.map(({ rest }) =>
    also.length === 0
      ? `SELECT ${columnsOf(brief)} ${rest} LIMIT ${most}`
      : `SELECT ${columnsOf(brief)} FROM (SELECT t.* ${rest} LIMIT ${size}) t
WHERE ${conditions} ORDER BY t.key ${direction(order)} LIMIT ${most}`,
  )
  const page =
    branches.length === 1
      ? (branches[0] as string)
      : `(${branches.join(') UNION ALL (')}) ORDER BY 1 ${direction(order)} LIMIT ${most}`
  if (also.length === 0)
    return writer.written(`SELECT p.*, NULL::bigint FROM (${page}) p ORDER BY 1 ${direction(order)}`)
  const ends = walks.map(({ by, rest }) => `(SELECT ${by} ${rest} OFFSET ${size - 1} LIMIT 1)`)
  const end = `${order === 'newest' ? 'greatest' : 'least'}(${ends.join(', ')})`
  // A full page of a single branch has no gap.
  const looked = parts.length > 1 ? end : `CASE WHEN (SELECT count(*) FROM page) < ${most} THEN ${end} END`
  return writer.written(`WITH page AS MATERIALIZED (${page})
SELECT p.*, l.looked FROM (SELECT ${looked} AS looked) l LEFT JOIN page p ON true ORDER BY p.key ${direction(order)}`)
}

/**
 * The workflows that have tasks, in the order of an index: each is found by one lookup behind the previous one,
 * whatever the number of their tasks.
 */
const NAMES = `WITH RECURSIVE names (name, nth) AS (
  (SELECT t.workflow, 1 FROM triarch.tasks t ORDER BY t.workflow LIMIT 1) UNION ALL
  SELECT (SELECT t.workflow FROM triarch.tasks t WHERE t.workflow > n.name ORDER BY t.workflow LIMIT 1), n.nth + 1 FROM names n
  WHERE n.name IS NOT NULL AND n.nth <= ${MOST_NAMES})`

export function listedOf(rows: readonly Row[], query: ListQuery): ListedTasks {
  const [first] = rows
  const found = rows.filter(([key]) => key !== null).map(taskOf)
  return listed(found, [(first?.at(-1) ?? null) as number | null], query)
}

function direction(order: ListQuery['order']): 'ASC' | 'DESC' {
  return order === 'newest' ? 'DESC' : 'ASC'
}

/** Writes clauses, and collects the values of their parameters. */
class Writer {
  readonly #values: Value[] = []

  written(sql: string): ListStatement {
    return { sql, values: this.#values }
  }

  value(value: Value): string {
    return `$${this.#values.push(value)}`
  }

  behind(by: string, order: ListQuery['order'], after: number | undefined): string[] {
    return after === undefined ? [] : [`${by} ${order === 'newest' ? '<' : '>'} ${this.value(after)}`]
  }

  leading(part: Lead): { source: string; by: string; clauses: string[] } {
    const of = (...clauses: string[]) => ({ source: 'triarch.tasks t', by: 't.key', clauses })
    switch (part.by) {
      case 'tag': {
        const clauses = [`tag.name = ${this.value(part.name)}`, `tag.value = ${this.value(part.value)}`]
        return { source: 'triarch.tags tag JOIN triarch.tasks t ON t.key = tag.task', by: 'tag.task', clauses }
      }
      case 'parent':
        return of(`t.parent = ${this.value(part.value)}`)
      case 'lockedBy':
        return of(`t.locked_by = ${this.value(part.value)}`)
      case 'status':
        return of(`t.status <> 'stopped' AND t.status = ${this.value(part.value)}`)
      case 'result':
        return of(`t.result NOT IN ('pending', 'success') AND t.result = ${this.value(part.value)}`)
      case 'paused':
        return of(`t.status <> 'stopped' AND t.status = 'paused' AND t.result IN ('pending', 'success')`)
      case 'quarantined':
        return of('t.quarantined')
      case 'all':
        return of()
    }
  }

  /** Selects a span in the order of its index, which forces the planner to use that whatever its statistics of instants are. */
  spanning({ value, submittedAt }: WorkflowSpan): string {
    const within = this.alternatives(columns.submittedAt, submittedAt)
    const walk = (workflow: string) => `SELECT found FROM (SELECT t.key AS found FROM triarch.tasks t
WHERE ${[`t.workflow = ${workflow}`, ...within].join(' AND ')} ORDER BY t.submitted_at LIMIT ${MAX_ROWS_EXAMINED + 1}) span`
    if (value !== null) return walk(this.value(value))
    return `SELECT found FROM (${NAMES} SELECT span.found FROM names CROSS JOIN LATERAL (${walk('names.name')}) span WHERE nth <= ${MOST_NAMES}
UNION ALL SELECT NULL FROM names WHERE name IS NOT NULL AND nth > ${MOST_NAMES}) spans`
  }

  condition({ column, tag, not, test }: RowCondition): string {
    const sql = column === 'tag' ? this.#tagged(tag ?? '', test) : this.#any(columns[column], test, flags.has(column))
    // A condition on a missing value is NULL, which does not hold; its negation does.
    return not ? `(${sql}) IS NOT TRUE` : sql
  }

  /** Returns clauses of which one must hold. */
  alternatives(column: string, test: RowTest, flag = false): string[] {
    switch (test.type) {
      case 'given':
        return [flag ? column : `${column} IS NOT NULL`]
      case 'number': {
        const { least, most } = test
        const edges = [
          ...(least === undefined ? [] : [`${column} >= ${this.value(least)}`]),
          ...(most === undefined ? [] : [`${column} <= ${this.value(most)}`]),
        ]
        return [edges.length > 0 ? edges.join(' AND ') : 'true']
      }
      case 'text':
        return [
          `${column} = ANY (${this.value(literal(test.oneOf))})`,
          ...(test.within ?? []).map((range) => this.#between(column, range)),
        ]
    }
  }

  #any(column: string, test: RowTest, flag = false): string {
    return `(${this.alternatives(column, test, flag).join(' OR ')})`
  }

  #between(column: string, { from, to }: TextRange): string {
    const least = `${column} >= ${this.value(from)}`
    return to === null ? least : `${least} AND ${column} < ${this.value(to)}`
  }

  #tagged(name: string, test: RowTest): string {
    const given = this.value(name)
    return `EXISTS (SELECT 1 FROM triarch.tags x WHERE x.task = t.key AND x.name = ${given} AND ${this.#any('x.value', test)})`
  }
}
