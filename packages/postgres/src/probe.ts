import type { ProbeQuery, ProbeRow, ProbeWrite } from 'triarch/store'
import { LEADER } from 'triarch/store'
import { integers, texts } from './arrays.ts'
import { LEADS } from './leader.ts'
import type { Row } from './query.ts'

const ROWS = 'SELECT p.name, p.at, p.state, CASE WHEN $1::boolean THEN p.results END FROM triarch.probes p'
const PROBES_NAMED = `${ROWS} WHERE p.name = ANY ($2::text[]) ORDER BY p.name`
const PROBES_AFTER = `${ROWS} WHERE p.name > $2 ORDER BY p.name LIMIT $3`
/** Locks the leadership, so that no node takes over before this is done. */
const WRITE_PROBES = `
WITH led AS (${LEADS}),
kept AS (
  INSERT INTO triarch.probes (name, at, state, results)
  SELECT k.* FROM unnest($4::text[], $5::bigint[], $6::text[], $7::text[]) AS k, led
  ON CONFLICT (name) DO UPDATE SET at = excluded.at, state = excluded.state, results = excluded.results),
dropped AS (DELETE FROM triarch.probes p USING led WHERE p.name = ANY ($8::text[]))
SELECT 1 FROM led`

export type ProbeStatement = 'probesNamed' | 'probesAfter' | 'writeProbes'
export const probeStatements: Readonly<Record<ProbeStatement, string>> = {
  ...{ probesNamed: PROBES_NAMED, probesAfter: PROBES_AFTER, writeProbes: WRITE_PROBES },
}

export function probeQuery(query: ProbeQuery): ['probesNamed' | 'probesAfter', unknown[]] {
  if ('names' in query) return ['probesNamed', [query.results, texts([...query.names])]]
  return ['probesAfter', [query.results, query.after, query.limit]]
}

export function probeValues({ leading: { name, node, token }, kept, dropped }: ProbeWrite): unknown[] {
  return [
    ...[LEADER + name, node, token],
    texts(kept, (it) => it.name),
    integers(kept, ({ at }) => at),
    texts(kept, ({ state }) => state),
    texts(kept, ({ results }) => results),
    texts([...dropped]),
  ]
}

export function probeOf(row: Row): ProbeRow {
  const [name, at, state, results] = row as [string, number, string, string | null]
  return { name, at, state, results }
}
