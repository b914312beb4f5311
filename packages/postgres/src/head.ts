import { type QueueHead, SHARE_WITHIN, SHARED, shareOfText } from 'triarch/store'
import type { Row } from './query.ts'

/** Reads the first requests of several queues: a step or two of the index for each. */
export const HEADS: string = `
SELECT q.agent, w.priority, w.start FROM
ROWS FROM (jsonb_to_recordset($1::jsonb) AS (agent text, actions text[], lowest bigint, beyond bigint, names text[], mosts bigint[]))
  WITH ORDINALITY AS q (agent, actions, lowest, beyond, names, mosts, number),
LATERAL (SELECT CASE WHEN cardinality(q.names) > 0 AND triarch.seats_left(q.names, q.mosts) = 0 THEN 0 ELSE $3::bigint END AS most OFFSET 0) m,
LATERAL (SELECT x.priority, coalesce(x.place, x.id) AS place,
    CASE WHEN x.request LIKE '${SHARED}%' THEN left(x.request, ${SHARE_WITHIN}) END AS start
  FROM triarch.work x
  WHERE x.agent = q.agent COLLATE "C" AND x.locked_by IS NULL AND x.action = ANY (q.actions)
    AND x.priority >= q.lowest AND x.priority < q.beyond AND (x.expires_at IS NULL OR x.expires_at > triarch.clock($2))
  ORDER BY x.priority DESC, coalesce(x.place, x.id) LIMIT m.most) w
ORDER BY q.number, w.priority DESC, w.place`

export function headOf(row: Row): QueueHead {
  const [agent, rank, start] = row as [string, number, string | null]
  return { agent, rank, share: shareOfText(start) }
}
