import type { SecretRow, SecretWrite } from 'triarch/store'
import { withAct } from './audit.ts'
import type { Row } from './query.ts'

const SECRETS = 'SELECT s.number, s.secret, s.made_at, s.overlaps_until FROM triarch.secrets s ORDER BY s.number DESC'
const STEPS = `added AS (
  INSERT INTO triarch.secrets AS s (number, secret, made_at, overlaps_until)
  VALUES ($1::bigint, $2::text, $3::bigint, $4::bigint) ON CONFLICT DO NOTHING RETURNING 1),
dropped AS (DELETE FROM triarch.secrets s USING added WHERE s.number < $5::bigint RETURNING 1)`
const ADDED = 'SELECT 1 FROM added'
const WRITE_SECRET = `WITH ${STEPS} ${ADDED}`

export type SecretStatement = 'secrets' | 'writeSecret'
export const secretStatements: Readonly<Record<SecretStatement, string>> = {
  ...{ secrets: SECRETS, writeSecret: WRITE_SECRET },
}
export const secretActs: Readonly<Record<'writeSecretAct', string>> = {
  writeSecretAct: withAct(ADDED, 5, 'true', STEPS),
}

export function secretValues({ number, secret, madeAt, overlapsUntil, keepFrom }: SecretWrite): unknown[] {
  return [number, secret, madeAt, overlapsUntil, keepFrom]
}

export function secretOf(row: Row): SecretRow {
  const [number, secret, madeAt, overlapsUntil] = row as [number, string, number, number | null]
  return { number, secret, madeAt, overlapsUntil }
}
