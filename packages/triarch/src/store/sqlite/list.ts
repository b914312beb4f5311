import type { TaskResult, TaskStatus } from '../../kernel/status.ts'
import type { ListQuery, TaskRow } from '../port.ts'
import type { Database, Value } from './database.ts'
import { type StoredTask, TASK_COLUMNS, taskRow } from './reads.ts'

/** Conditions of one query, joined by AND, with their values. */
interface Filter {
  conditions: string[]
  values: Value[]
}

/**
 * Newest or oldest first. Statuses and results that an index lists in this order are asked one by one and merged, so
 * that a page costs what it shows and not what the table holds.
 */
export function list(database: Database, _now: number, query: ListQuery): TaskRow[] {
  const parts = partition(query)
  const pages = parts.map((part) => page(database, query, part))
  const rows = pages.length === 1 ? (pages[0] ?? []) : pages.flat().sort((a, b) => direction(query) * (a.key - b.key))
  return rows.slice(0, query.limit).map(taskRow)
}

function partition({ status, result }: ListQuery): Filter[] {
  const statuses = several<TaskStatus>(status)
  const results = several<TaskResult>(result)
  const rare = results?.every((it) => it !== 'pending' && it !== 'success')
  if (results && rare) {
    const also = statuses ? oneOf('status', statuses) : { conditions: [], values: [] }
    return results.map((it) =>
      both({ conditions: ["result NOT IN ('pending', 'success')", 'result = ?'], values: [it] }, also),
    )
  }
  const also = results ? oneOf('result', results) : { conditions: [], values: [] }
  if (!statuses) return [also]
  if (statuses.includes('stopped')) return [both(oneOf('status', statuses), also)]
  return statuses.map((it) => both({ conditions: ["status <> 'stopped'", 'status = ?'], values: [it] }, also))
}

function page(database: Database, query: ListQuery, part: Filter): StoredTask[] {
  const { conditions, values } = both(part, filters(query))
  if (query.quarantined) conditions.push('quarantined = 1')
  const order = query.order === 'newest' ? 'DESC' : 'ASC'
  // The first tag leads: its rows come in the order of keys.
  const tags = Object.entries(query.tags ?? {})
  const source = tags.length > 0 ? 'triarch_tags AS tag CROSS JOIN triarch_tasks ON key = tag.task' : 'triarch_tasks'
  const by = tags.length > 0 ? 'tag.task' : 'key'
  tags.forEach(([name, value], i) => {
    if (i === 0) conditions.push('tag.name = ?', 'tag.value = ?')
    else conditions.push('EXISTS (SELECT 1 FROM triarch_tags WHERE name = ? AND value = ? AND task = key)')
    values.push(name, value)
  })
  if (query.after !== undefined) {
    conditions.push(`${by} ${order === 'DESC' ? '<' : '>'} ?`)
    values.push(query.after)
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''
  const sql = `SELECT ${TASK_COLUMNS} FROM ${source} ${where} ORDER BY ${by} ${order} LIMIT ?`
  return database.all<StoredTask>(sql, ...values, query.limit)
}

function filters({ workflow, version, parent, parentStep, submittedAfter, submittedBefore }: ListQuery): Filter {
  const wanted: [string, Value | undefined][] = [
    ['workflow = ?', workflow],
    ['version = ?', version],
    ['parent = ?', parent],
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

function direction({ order }: ListQuery): 1 | -1 {
  return order === 'newest' ? -1 : 1
}
