import type { AlertPost, AlertQuery, AlertRow, AlertWrite } from 'triarch/store'
import { integers, texts } from './arrays.ts'
import { withAct } from './audit.ts'
import type { Row } from './query.ts'

const ROWS = 'SELECT a.name, a.revision, a.open, a.at, a.state FROM triarch.alerts a'
const ALERTS_NAMED = `${ROWS} WHERE a.name = ANY ($1::text[]) ORDER BY a.name`
const ALERTS_AFTER = `${ROWS} WHERE a.open = $1 AND a.name > $2 ORDER BY a.name LIMIT $3`
const ALERTS_ENDED = `${ROWS} WHERE NOT a.open AND a.at < $1 ORDER BY a.at, a.name LIMIT $2`

/** Whether the writer may write. The leader's lease is locked until the end, as by a sweep. */
const MAY = `led AS (
  SELECT 1 FROM triarch.leases l
  WHERE l.name = $2 AND l.token = $3 AND l.until > triarch.clock($1) FOR SHARE OF l),
may AS (SELECT 1 WHERE $2::text IS NULL OR EXISTS (SELECT 1 FROM led))`
const POSTED = `posted AS (
  INSERT INTO triarch.alert_posts (id, sink, due_at, state)
  SELECT p.* FROM unnest($9::text[], $10::text[], $11::bigint[], $12::text[]) AS p, w ON CONFLICT DO NOTHING)`
/** All three take the same parameters in the same order. */
const CREATE = `w AS (
  INSERT INTO triarch.alerts (name, revision, open, at, state)
  SELECT $4::text, $5::bigint + 1, $6::boolean, $7::bigint, $8::text FROM may ON CONFLICT DO NOTHING RETURNING 1)`
const UPDATE = `w AS (
  UPDATE triarch.alerts a SET revision = a.revision + 1, open = $6::boolean, at = $7::bigint, state = $8::text FROM may
  WHERE a.name = $4::text AND a.revision = $5::bigint RETURNING 1)`
const DROP = `unused AS (SELECT $6::boolean, $7::bigint, $8::text),
w AS (DELETE FROM triarch.alerts a USING may WHERE a.name = $4::text AND a.revision = $5::bigint RETURNING 1)`
const whole = (written: string) => `WITH ${MAY}, ${written}, ${POSTED} SELECT 1 FROM w`
const acted = (written: string) => withAct('SELECT 1 FROM w', 12, 'true', `${MAY}, ${written}, ${POSTED}`)

const ALERT_POSTS = `
SELECT p.id, p.sink, p.due_at, p.state FROM triarch.alert_posts p WHERE p.due_at <= $1 ORDER BY p.due_at, p.id LIMIT $2`
const DEFER_ALERT_POST = `
WITH ${MAY} UPDATE triarch.alert_posts p SET due_at = $5, state = $6 FROM may WHERE p.id = $4 RETURNING 1`
const SETTLE_ALERT_POST = `
WITH ${MAY} DELETE FROM triarch.alert_posts p USING may WHERE p.id = $4 RETURNING 1`

export type AlertWriting = 'createAlert' | 'updateAlert' | 'dropAlert'
export type AlertStatement =
  | AlertWriting
  | ('alertsNamed' | 'alertsAfter' | 'alertsEnded' | 'alertPosts' | 'deferAlertPost' | 'settleAlertPost')
export const alertStatements: Readonly<Record<AlertStatement, string>> = {
  ...{ alertsNamed: ALERTS_NAMED, alertsAfter: ALERTS_AFTER, alertsEnded: ALERTS_ENDED },
  ...{ createAlert: whole(CREATE), updateAlert: whole(UPDATE), dropAlert: whole(DROP) },
  ...{ alertPosts: ALERT_POSTS, deferAlertPost: DEFER_ALERT_POST, settleAlertPost: SETTLE_ALERT_POST },
}
export const alertActs: Readonly<Record<`${AlertWriting}Act`, string>> = {
  ...{ createAlertAct: acted(CREATE), updateAlertAct: acted(UPDATE), dropAlertAct: acted(DROP) },
}

export function alertQuery(query: AlertQuery): ['alertsNamed' | 'alertsAfter' | 'alertsEnded', unknown[]] {
  if ('names' in query) return ['alertsNamed', [texts([...query.names])]]
  if ('open' in query) return ['alertsAfter', [query.open, query.after, query.limit]]
  return ['alertsEnded', [query.endedBefore, query.limit]]
}

export function alertValues({ fence, name, expected, open, at, state, posts }: AlertWrite): unknown[] {
  return [
    ...[fence?.name ?? null, fence?.token ?? null, name, expected, open, at, state],
    texts(posts, ({ id }) => id),
    texts(posts, ({ sink }) => sink),
    integers(posts, ({ dueAt }) => dueAt),
    texts(posts, (it) => it.state),
  ]
}

export function alertOf(row: Row): AlertRow {
  const [name, revision, open, at, state] = row as [string, number, boolean, number, string]
  return { name, revision, open, at, state }
}

export function alertPostOf(row: Row): AlertPost {
  const [id, sink, dueAt, state] = row as [string, string, number, string]
  return { id, sink, dueAt, state }
}
