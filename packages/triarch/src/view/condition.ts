import { filterFields } from '../filter/field.ts'
import type { Filter, FilterTerm, FilterTest } from '../filter/filter.ts'
import type { RowColumn, RowCondition, RowTest, TextRange } from '../store/port.ts'

/** The conditions that the store checks, and the terms that need the decoded row. */
export interface Conditions {
  where: readonly RowCondition[]
  rest: readonly FilterTerm[]
}

const texts: Readonly<Record<string, RowColumn>> = {
  workflow: 'workflow',
  version: 'version',
  id: 'id',
  parent: 'parent',
  node: 'lockedBy',
}
const numbers: Readonly<Record<string, RowColumn>> = {
  priority: 'priority',
  failures: 'failures',
  submitted: 'submittedAt',
  updated: 'updatedAt',
}
/** Fields that are spans until now, with the column from which they are counted. */
const spans: Readonly<Record<string, RowColumn>> = { age: 'submittedAt', idle: 'updatedAt' }
/** Fields whose columns may be encrypted, so that the store cannot search them. */
export const explainedFields: ReadonlySet<string> = new Set(['error', 'step', 'cause'])
const TAG = 'tag.'

/** Converts a filter to conditions. `now`: by the store's clock. */
export function conditionsOf({ terms }: Filter, now: number): Conditions {
  const where: RowCondition[] = []
  for (const field of ['status', 'outcome'] as const) {
    const allowed = allowedOf(field, terms)
    if (allowed) where.push({ column: field === 'outcome' ? 'result' : field, test: { type: 'text', oneOf: allowed } })
  }
  for (const term of terms) {
    const condition = conditionOf(term, now)
    if (condition) where.push(condition)
  }
  return { where, rest: terms.filter(({ field }) => explainedFields.has(field)) }
}

function conditionOf({ field, not, test }: FilterTerm, now: number): RowCondition | null {
  const negated = not ? { not } : {}
  if (field.startsWith(TAG)) return { column: 'tag', tag: field.slice(TAG.length), ...negated, test: rowTest(test) }
  const column = texts[field] ?? numbers[field]
  if (column) return { column, ...negated, test: rowTest(test) }
  const since = spans[field]
  if (since && test.type === 'range') {
    const { from, to } = test
    const span = { ...(to !== undefined && { least: now - to }), ...(from !== undefined && { most: now - from }) }
    return { column: since, ...negated, test: { type: 'number', ...span } }
  }
  if (field === 'ready' || field === 'quarantined') return flag(field, not ?? false, test)
  // Only these tasks have an error.
  if ((field === 'error' || field === 'step') && !not) return { column: 'troubled', test: { type: 'given' } }
  return null
}

function rowTest(test: FilterTest): RowTest {
  if (test.type === 'is') {
    const within = test.values.flatMap(({ text, prefix }) => (prefix ? beginning(text) : []))
    const oneOf = test.values.flatMap(({ text, prefix }) => (prefix ? [] : text))
    return { type: 'text', oneOf, ...(within.length > 0 && { within }) }
  }
  if (test.type !== 'range') return { type: 'given' }
  const { from, to } = test
  return { type: 'number', ...(from !== undefined && { least: from }), ...(to !== undefined && { most: to }) }
}

/** The condition for a boolean column; null: both values match. */
function flag(column: 'ready' | 'quarantined', not: boolean, test: FilterTest): RowCondition | null {
  const wanted = new Set(test.type === 'is' ? test.values.map(({ text }) => (text === 'true') !== not) : [])
  if (wanted.size !== 1) return wanted.size === 0 || !not ? null : { column, test: { type: 'text', oneOf: [] } }
  return { column, ...(!wanted.has(true) && { not: true as const }), test: { type: 'given' } }
}

/** The range of texts with this prefix; stores compare by code points. */
function beginning(text: string): TextRange {
  const points = [...text]
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const next = (last.codePointAt(0) ?? 0) + 1
    // Half a surrogate pair is not a character.
    if (next <= 0x10_ffff)
      return { from: text, to: points.join('') + String.fromCodePoint(next === 0xd800 ? 0xe000 : next) }
  }
  return { from: text, to: null }
}

/** The values of a field that satisfy all its terms; null: the terms exclude none. */
function allowedOf(field: 'status' | 'outcome', terms: readonly FilterTerm[]): string[] | null {
  const known = filterFields.find(({ name }) => name === field)?.values ?? []
  const left = terms.reduce((values, term) => {
    if (field === 'status' && term.field === 'cause' && !term.not) return values.filter((it) => it === 'paused')
    if (term.field !== field || term.test.type !== 'is') return values
    const given = term.test.values.map(({ text }) => text)
    return values.filter((it) => given.includes(it) !== (term.not ?? false))
  }, known)
  return left.length < known.length ? [...left] : null
}
