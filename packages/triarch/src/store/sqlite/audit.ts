import type { AuditBounds, AuditEntry, Audited, AuditQuery, AuditRow } from '../audit.ts'
import type { Database } from './database.ts'

const KEEP = `
INSERT INTO triarch_audit (id, at, actor, action, subject, outcome, text) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
const COLUMNS = 'seq, at, actor, action, subject, outcome, text'
const EXPIRED = `
DELETE FROM triarch_audit WHERE seq IN (SELECT seq FROM triarch_audit WHERE at < ? ORDER BY at, seq LIMIT ? + 0)`
const SURPLUS = `
DELETE FROM triarch_audit WHERE seq IN (SELECT seq FROM triarch_audit WHERE at < ?3 ORDER BY at, seq
  LIMIT max(0, min(?1, (SELECT count(*) FROM (SELECT 1 FROM triarch_audit LIMIT ?2 + ?1)) - ?2)))`

export function writeAudit(database: Database, _now: number, entries: readonly AuditEntry[]): void {
  database.transaction(() => {
    for (const entry of entries) keepAct(database, entry)
  })
}

/** Writes an entry inside an open transaction. */
export function keepAct(database: Database, entry: AuditEntry): void {
  const { id, at, actor, action, subject, outcome, text } = entry
  database.run(KEEP, id, at, actor, action, subject, outcome, text)
}

/** Runs the body in one transaction with its audit entry, which is written if `done`; without an entry, runs just the body. */
export function withAct<T>(database: Database, acted: Audited | null, done: (result: T) => boolean, body: () => T): T {
  const { audit } = acted ?? {}
  if (audit === undefined) return body()
  return database.transaction(() => {
    const result = body()
    if (done(result)) keepAct(database, audit)
    return result
  })
}

export function audit(
  database: Database,
  _now: number,
  { actor, action, subject, since, before, limit }: AuditQuery,
): AuditRow[] {
  const given = Object.entries({ actor, action, subject }).flatMap(([name, value]) =>
    value === null ? [] : [{ name, value }],
  )
  const where = ['(at, seq) < (?, ?)', 'at >= ?', ...given.map(({ name }) => `${name} = ?`)].join(' AND ')
  const sql = `SELECT ${COLUMNS} FROM triarch_audit WHERE ${where} ORDER BY at DESC, seq DESC LIMIT ? + 0`
  const values = [before.at, before.seq, since ?? 0, ...given.map(({ value }) => value), limit]
  return database.all<AuditRow>(sql, ...values).map((row) => ({ ...row }))
}

export function trimAudit(database: Database, _now: number, { before, entries, surplus, limit }: AuditBounds): number {
  return database.transaction(() => {
    const expired = before === null ? 0 : database.run(EXPIRED, before, limit)
    return expired + database.run(SURPLUS, limit, entries, surplus)
  })
}
