import { type HeadQuery, type QueueHead, SHARE_WITHIN, SHARED, shareOfText, spanOf } from '../head.ts'
import type { Database } from './database.ts'
import { permitsLeft } from './permit.ts'

const HEADS = `
SELECT priority AS rank, iif(substr(request, 1, ${SHARED.length}) = '${SHARED}', substr(request, 1, ${SHARE_WITHIN}), NULL) AS start
FROM triarch_work
WHERE agent = ?1 AND locked_by IS NULL AND action IN (SELECT value FROM json_each(?2)) AND priority >= ?3 AND priority < ?4
  AND (expires_at IS NULL OR expires_at > ?5)
ORDER BY priority DESC, coalesce(place, id) LIMIT ?6 + 0`

export function queueHeads(database: Database, now: number, { queues, depth }: HeadQuery): QueueHead[] {
  return queues.flatMap(({ agent, actions, seats, ranks }) => {
    if (seats && permitsLeft(database, seats) === 0) return []
    const given = [agent, JSON.stringify(actions), ...spanOf(ranks), now, depth]
    const rows = database.all<{ rank: number; start: string | null }>(HEADS, ...given)
    return rows.map(({ rank, start }) => ({ agent, rank, share: shareOfText(start) }))
  })
}
