import type { ListQuery, RowCondition, RowTest, StateStore, TaskRow } from '../../src/store/port.ts'
import { conditionsOf } from '../../src/view/condition.ts'
import { type ListOptions, listedBy } from '../../src/view/query.ts'

/** What users may ask for, and the key behind which to go on. */
export interface ListChoice extends Omit<ListOptions, 'cursor'> {
  after?: number
}

/** What the store is asked for then. `now`: for spans of time. */
export function queryOf({ after, ...options }: ListChoice, now = 0): ListQuery {
  const { filter, page } = listedBy({ limit: 1_000, ...options })
  const { where } = conditionsOf(filter, now)
  return { where, ...page, ...(after !== undefined && { after }), order: filter.order ?? 'newest' }
}

/** The rows that one look finds. */
export async function list(store: StateStore, options: ListChoice = {}): Promise<TaskRow[]> {
  return (await store.list(queryOf(options))).rows
}

/** Their ids. */
export async function idsOf(store: StateStore, options: ListChoice = {}): Promise<string[]> {
  return (await list(store, options)).map(({ id }) => id)
}

/** The same question about other texts. Statuses and results say by what it is led. */
export function renamed(condition: RowCondition, place: number): RowCondition {
  const { column, tag, test } = condition
  const named = tag === undefined ? {} : { tag: `n${place}` }
  if (column === 'status' || column === 'result' || test.type !== 'text') return { ...condition, ...named }
  const known = new Map<string, string>()
  const other = (text: string) => {
    if (!known.has(text)) known.set(text, `x${known.size}`)
    return known.get(text) as string
  }
  const within = test.within?.map(({ from, to }) => ({ from: other(from), to: to === null ? null : other(to) }))
  const texts: RowTest = { type: 'text', oneOf: test.oneOf.map(other), ...(within && { within }) }
  return { ...condition, ...named, test: texts }
}
