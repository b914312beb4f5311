import type { KeyQuery, KeyRow, KeyUse, KeyWrite } from 'triarch/store'
import { integers, texts } from './arrays.ts'
import { withAct } from './audit.ts'
import type { Row } from './query.ts'

const ROWS = 'SELECT k.name, k.revision, k.used_at, k.state FROM triarch.keys k'
const KEYS_NAMED = `${ROWS} WHERE k.name = ANY ($1::text[]) ORDER BY k.name`
const KEYS_AFTER = `${ROWS} WHERE k.name > $1 ORDER BY k.name LIMIT $2`
const KEYS_ENDED = `${ROWS} WHERE k.ends_at < $1 ORDER BY k.name LIMIT $2`
const KEY_MARK = `
SELECT coalesce((SELECT c.mark FROM triarch.key_changes c), ''), (SELECT count(*) FROM triarch.keys)`
/** The mark is random, so that it also differs in a store that lost its tail and changed again. */
const CHANGED = `changed AS (
  INSERT INTO triarch.key_changes AS c (one, mark) SELECT 1, gen_random_uuid()::text FROM w
  ON CONFLICT (one) DO UPDATE SET mark = excluded.mark RETURNING 1)`
const CREATE = `w AS (
  INSERT INTO triarch.keys (name, revision, at, ends_at, state)
  VALUES ($1, $2::bigint + 1, $3::bigint, $4::bigint, $5::text) ON CONFLICT DO NOTHING RETURNING 1)`
const UPDATE = `w AS (
  UPDATE triarch.keys k SET revision = k.revision + 1, at = $3::bigint, ends_at = $4::bigint, state = $5::text
  WHERE k.name = $1 AND k.revision = $2::bigint RETURNING 1)`
const DROP = 'w AS (DELETE FROM triarch.keys k WHERE k.name = $1 AND k.revision = $2 RETURNING 1)'
const WRITTEN = 'SELECT 1 FROM w'
const whole = (write: string) => `WITH ${write}, ${CHANGED} ${WRITTEN}`
const acted = (write: string, count: number) => withAct(WRITTEN, count, 'true', `${write}, ${CHANGED}`)
const USE_KEYS = `
UPDATE triarch.keys k SET used_at = u.at FROM unnest($1::text[], $2::bigint[]) AS u (name, at)
WHERE k.name = u.name AND coalesce(k.used_at, 0) < u.at`

export type KeyWriting = 'createKey' | 'updateKey' | 'dropKey'
export type KeyStatement = KeyWriting | 'keysNamed' | 'keysAfter' | 'keysEnded' | 'keyMark' | 'useKeys'
export const keyStatements: Readonly<Record<KeyStatement, string>> = {
  ...{ keysNamed: KEYS_NAMED, keysAfter: KEYS_AFTER, keysEnded: KEYS_ENDED, keyMark: KEY_MARK, useKeys: USE_KEYS },
  ...{ createKey: whole(CREATE), updateKey: whole(UPDATE), dropKey: whole(DROP) },
}
export const keyActs: Readonly<Record<`${KeyWriting}Act`, string>> = {
  ...{ createKeyAct: acted(CREATE, 5), updateKeyAct: acted(UPDATE, 5), dropKeyAct: acted(DROP, 2) },
}

export function keyQuery(query: KeyQuery): ['keysNamed' | 'keysAfter' | 'keysEnded', unknown[]] {
  if ('names' in query) return ['keysNamed', [texts([...query.names])]]
  if ('after' in query) return ['keysAfter', [query.after, query.limit]]
  return ['keysEnded', [query.endedBefore, query.limit]]
}

export function keyWriting({ name, expected, at, endsAt, state }: KeyWrite): [KeyWriting, unknown[]] {
  if (state === null) return ['dropKey', [name, expected]]
  return [expected === 0 ? 'createKey' : 'updateKey', [name, expected, at, endsAt, state]]
}

export function keyUses(uses: readonly KeyUse[]): unknown[] {
  return [texts(uses, ({ name }) => name), integers(uses, ({ at }) => at)]
}

export function keyOf(row: Row): KeyRow {
  const [name, revision, usedAt, state] = row as [string, number, number | null, string]
  return { name, revision, usedAt, state }
}
