import type { ListQuery } from 'triarch/store'
import { TASK_COLUMNS } from './reads.ts'

type Value = string | number | readonly string[]

/**
 * Newest or oldest first. Open statuses and rare results have an index in this order; a page of them is merged from one
 * branch for each, so that it costs what it shows and not what the table holds.
 */
export function listStatement(query: ListQuery): { sql: string; values: Value[] } {
  const values: Value[] = []
  const given = (value: Value): string => `$${values.push(value)}`
  const order = query.order === 'newest' ? 'DESC' : 'ASC'
  const [first, ...tags] = Object.entries(query.tags ?? {})
  const common = [
    ...filters(query, given),
    ...(query.quarantined ? ['t.quarantined'] : []),
    ...tags.map(
      ([name, value]) =>
        `EXISTS (SELECT 1 FROM triarch.tags x WHERE x.name = ${given(name)} AND x.value = ${given(value)} AND x.task = t.key)`,
    ),
  ]
  // The first tag leads: its rows come in the order of keys.
  const by = first ? 'tag.task' : 't.key'
  const source = first ? 'triarch.tags tag JOIN triarch.tasks t ON t.key = tag.task' : 'triarch.tasks t'
  if (first) common.push(`tag.name = ${given(first[0])}`, `tag.value = ${given(first[1])}`)
  if (query.after !== undefined) common.push(`${by} ${order === 'DESC' ? '<' : '>'} ${given(query.after)}`)
  const limit = `LIMIT ${given(query.limit)}`
  const branches = partition(query, given).map((part) => {
    const where = [...part, ...common]
    return `SELECT ${TASK_COLUMNS} FROM ${source} ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''}
      ORDER BY ${by} ${order} ${limit}`
  })
  if (branches.length === 0) branches.push(`SELECT ${TASK_COLUMNS} FROM triarch.tasks t WHERE false ${limit}`)
  const sql =
    branches.length === 1 ? (branches[0] as string) : `(${branches.join(') UNION ALL (')}) ORDER BY 1 ${order} ${limit}`
  return { sql, values }
}

function partition({ status, result }: ListQuery, given: (value: Value) => string): string[][] {
  const statuses = several(status)
  const results = several(result)
  const rare = results?.every((it) => it !== 'pending' && it !== 'success')
  if (results && rare) {
    const also = statuses ? [`t.status = ANY (${given(statuses)})`] : []
    return results.map((it) => [`t.result NOT IN ('pending', 'success') AND t.result = ${given(it)}`, ...also])
  }
  const also = results ? [`t.result = ANY (${given(results)})`] : []
  if (!statuses) return [also]
  if (statuses.includes('stopped')) return [[`t.status = ANY (${given(statuses)})`, ...also]]
  return statuses.map((it) => [`t.status <> 'stopped' AND t.status = ${given(it)}`, ...also])
}

function filters(query: ListQuery, given: (value: Value) => string): string[] {
  const { workflow, version, parent, parentStep, submittedAfter, submittedBefore } = query
  const wanted: [string, Value | undefined][] = [
    ['t.workflow =', workflow],
    ['t.version =', version],
    ['t.parent =', parent],
    ['t.submitted_at >', submittedAfter],
    ['t.submitted_at <', submittedBefore],
  ]
  const conditions = wanted.flatMap(([condition, value]) =>
    value === undefined ? [] : [`${condition} ${given(value)}`],
  )
  return parentStep === undefined
    ? conditions
    : [...conditions, `(t.parent_step = ${given(parentStep)} OR t.parent_step IS NULL)`]
}

function several<T extends string>(wanted: T | readonly T[] | undefined): readonly T[] | undefined {
  return typeof wanted === 'string' ? [wanted] : wanted && [...new Set(wanted)]
}
