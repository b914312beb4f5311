import { type RecountRow, recountOf, TALLY_COLUMNS, type Tally, type TallyPage, type TallyQuery } from 'triarch/store'
import type { Row } from './query.ts'

const FILTERS = ['kind', 'workflow', 'agent', 'action', 'outcome', 'error', 'tag'] as const
const COLUMNS = TALLY_COLUMNS.map((it) => {
  const none = it === 'hour' || it === 'bucket' ? '0' : "''"
  return `CASE WHEN '${it}' = ANY ($3::text[]) THEN s.${it} ELSE ${none} END`
}).join(', ')
const GROUPS = TALLY_COLUMNS.map((_, index) => index + 1).join(', ')
const WHERE = FILTERS.map(
  (it, index) => `AND ($${index + 5}::text IS NULL OR s.${it} = $${index + 5} COLLATE "C")`,
).join(' ')
/** Its parameter comes after those of the filters. */
const ONCE = `AND (NOT $${FILTERS.length + 5}::boolean OR s.outcome <> 'submitted')`

export const TALLIES: string = `
SELECT ${COLUMNS}, sum(s.count)::bigint, sum(s.ms)::bigint FROM triarch.statistics s
WHERE s.hour >= $1 AND s.hour < $2 AND NOT EXISTS (SELECT 1 FROM triarch.counting c WHERE c.anew) ${WHERE} ${ONCE} GROUP BY ${GROUPS} ORDER BY ${GROUPS} LIMIT $4`
export const COUNTING: string = `
SELECT triarch.clock($1), c.as_of, c.anew, c.since, c.goal, (SELECT max(f.task) FROM triarch.followed f), (SELECT min(t.key) FROM triarch.tasks t)
FROM (SELECT 1) one LEFT JOIN triarch.counting c ON true`
export const RECOUNT: string = `
INSERT INTO triarch.counting AS c (one, anew, since, goal)
SELECT true, true, triarch.clock($1), coalesce((SELECT max(t.key) FROM triarch.tasks t), 0)
ON CONFLICT (one) DO UPDATE SET anew = true, since = excluded.since, goal = excluded.goal RETURNING 1`

export function filtersOf({ where, once = false }: TallyQuery): (string | null | boolean)[] {
  return [...FILTERS.map((it) => where[it] ?? null), once]
}

export function tallyOf(row: Row): Tally {
  const names = [...TALLY_COLUMNS, 'count', 'ms']
  return Object.fromEntries(names.map((name, index) => [name, row[index]])) as unknown as Tally
}

export function countingOf(row: Row | undefined): Pick<TallyPage, 'asOf' | 'at' | 'recount'> {
  const [at = 0, ...known] = (row ?? []) as [number, ...(number | boolean | null)[]]
  const [asOf = null, anew = null, since = null, goal = null, reached = null, first = null] = known
  const standing = { asOf, anew: anew === true, since, goal, reached, first } as RecountRow
  return { at, asOf: anew === true ? null : standing.asOf, recount: recountOf(standing) }
}
