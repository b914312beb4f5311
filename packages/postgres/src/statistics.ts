import { TALLY_COLUMNS, type Tally, type TallyPage, type TallyQuery } from 'triarch/store'
import type { Row } from './slot.ts'

const FILTERS = ['kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag'] as const
const COLUMNS = TALLY_COLUMNS.map((it) => {
  const none = it === 'hour' || it === 'bucket' ? '0' : "''"
  return `CASE WHEN '${it}' = ANY ($3::text[]) THEN s.${it} ELSE ${none} END`
}).join(', ')
const GROUPS = TALLY_COLUMNS.map((_, index) => index + 1).join(', ')
const WHERE = FILTERS.map(
  (it, index) => `AND ($${index + 5}::text IS NULL OR s.${it} = $${index + 5} COLLATE "C")`,
).join(' ')

export const TALLIES: string = `
SELECT ${COLUMNS}, sum(s.count)::bigint, sum(s.ms)::bigint FROM triarch.statistics s
WHERE s.hour >= $1 AND s.hour < $2 ${WHERE} GROUP BY ${GROUPS} ORDER BY ${GROUPS} LIMIT $4`
export const COUNTING: string = 'SELECT (SELECT c.as_of FROM triarch.counting c), triarch.clock($1)'

export function filtersOf({ where }: TallyQuery): (string | null)[] {
  return FILTERS.map((it) => where[it] ?? null)
}

export function tallyOf(row: Row): Tally {
  const names = [...TALLY_COLUMNS, 'count', 'ms']
  return Object.fromEntries(names.map((name, index) => [name, row[index]])) as unknown as Tally
}

export function countingOf(row: Row | undefined): Pick<TallyPage, 'asOf' | 'at'> {
  const [asOf, at] = (row ?? [null, 0]) as [number | null, number]
  return { asOf, at }
}
