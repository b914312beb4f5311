import type { Claim, Letter, Message } from 'triarch/store'
import type { Row } from './slot.ts'

/** The claims out of the answer: a row with seq 0 describes a task, in the order of taking; the others are its records. */
export function claimsOf(rows: readonly Row[]): Claim[] {
  const claims = new Map<number, Claim>()
  for (const [key, seq, at, text] of rows as readonly [number, number, number, string][]) {
    if (seq > 0) claims.get(key)?.records.push({ seq, at, events: text })
    else {
      const { letters, ...rest } = JSON.parse(text) as Omit<Claim, 'key' | 'records'>
      claims.set(key, { key, ...rest, records: [], letters: letters.map(({ id, message }) => ({ id, key, message })) })
    }
  }
  return [...claims.values()]
}

export function letterOf(row: Row): Letter {
  const [id, key, message] = row as [number, number, string]
  return { id, key, message: JSON.parse(message) as Message }
}
