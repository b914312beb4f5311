import type { AuditEntry, AuditQuery, AuditRow } from 'triarch/store'
import { integers, texts } from './arrays.ts'
import type { Row } from './query.ts'

const INTO = 'INSERT INTO triarch.audit AS a (id, at, actor, action, subject, outcome, text)'
const TYPES = ['text', 'bigint', 'text', 'text', 'text', 'text', 'text'] as const

export const WRITE_AUDIT: string = `
${INTO} SELECT * FROM unnest(${TYPES.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})
ON CONFLICT DO NOTHING RETURNING 1`
export const EXPIRE_AUDIT: string = `
DELETE FROM triarch.audit a WHERE a.seq IN (SELECT e.seq FROM triarch.audit e WHERE e.at < $1 ORDER BY e.at, e.seq LIMIT $2) RETURNING 1`
export const TRIM_AUDIT: string = `
DELETE FROM triarch.audit a WHERE a.seq IN (SELECT e.seq FROM triarch.audit e WHERE e.at < $3 ORDER BY e.at, e.seq
  LIMIT greatest(0, least($2::bigint, (SELECT count(*) FROM (SELECT 1 FROM triarch.audit LIMIT $1::bigint + $2::bigint) s) - $1))) RETURNING 1`

/**
 * Returns a statement that also writes its audit entry if `done` holds for its row `r`. The entry is in the parameters
 * after the statement's own. `steps`: CTEs that come before it.
 */
export function withAct(sql: string, count: number, done = 'true', steps = ''): string {
  const given = TYPES.map((type, index) => `$${count + index + 1}::${type}`).join(', ')
  return `
WITH ${steps === '' ? '' : `${steps}, `}r (answer) AS (${sql}),
kept AS (${INTO} SELECT ${given} FROM r WHERE ${done} LIMIT 1 ON CONFLICT DO NOTHING RETURNING 1)
SELECT r.* FROM r`
}

/** Conditions on the answer of a function which state that the first of its inputs was done. */
export const DONE = {
  created: "r.answer NOT LIKE '-%' AND r.answer <> '0'",
  posted: "r.answer NOT IN ('0', '-1', '-2')",
  yes: "r.answer = 'yes'",
  written: "r.answer <> 'no'",
} as const

export function actValues({ id, at, actor, action, subject, outcome, text }: AuditEntry): unknown[] {
  return [id, at, actor, action, subject, outcome, text]
}

export function auditArrays(entries: readonly AuditEntry[]): unknown[] {
  return [
    texts(entries, ({ id }) => id),
    integers(entries, ({ at }) => at),
    texts(entries, ({ actor }) => actor),
    texts(entries, ({ action }) => action),
    texts(entries, ({ subject }) => subject),
    texts(entries, ({ outcome }) => outcome),
    texts(entries, ({ text }) => text),
  ]
}

/** Builds a statement for each combination of filters, so that it can use its index. */
export function auditStatement({ actor, action, subject, since, before, limit }: AuditQuery): {
  sql: string
  values: (string | number)[]
} {
  const values: (string | number)[] = [before.at, before.seq, since ?? 0, limit]
  const where = Object.entries({ actor, action, subject }).flatMap(([name, value]) =>
    value === null ? [] : [` AND a.${name} = $${values.push(value)}`],
  )
  const sql = `
SELECT a.seq, a.at, a.actor, a.action, a.subject, a.outcome, a.text FROM triarch.audit a
WHERE (a.at, a.seq) < ($1, $2) AND a.at >= $3${where.join('')} ORDER BY a.at DESC, a.seq DESC LIMIT $4`
  return { sql, values }
}

export function auditRow(row: Row): AuditRow {
  const [seq, at, actor, action, subject, outcome, text] = row as [
    number,
    number,
    string,
    string,
    string,
    string,
    string,
  ]
  return { seq, at, actor, action, subject, outcome: outcome === 'refused' ? 'refused' : 'done', text }
}
