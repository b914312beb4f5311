import type { SecretRow, SecretWrite } from '../secret.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'

const ROWS = `
SELECT number, secret, made_at AS madeAt, overlaps_until AS overlapsUntil FROM triarch_secrets ORDER BY number DESC`
const ADD =
  'INSERT INTO triarch_secrets (number, secret, made_at, overlaps_until) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING'
const DROP = 'DELETE FROM triarch_secrets WHERE number < ?'

export function secrets(database: Database): SecretRow[] {
  return database.all<SecretRow>(ROWS).map((row) => ({ ...row }))
}

export function writeSecret(database: Database, _now: number, write: SecretWrite): boolean {
  const { number, secret, madeAt, overlapsUntil, keepFrom } = write
  return database.transaction(() => {
    if (database.run(ADD, number, secret, madeAt, overlapsUntil) === 0) return false
    database.run(DROP, keepFrom)
    if (write.audit) keepAct(database, write.audit)
    return true
  })
}
