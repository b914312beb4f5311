import { Refused } from '../problem/problem.ts'

/**
 * What the header `Idempotency-Key` says: a string of structured fields (RFC 9651), which the draft asks for, a display string of them
 * where it has other characters, or the key as it is.
 */
export function keyOf(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key') ?? undefined
  const [, shown] = /^%"(.*)"$/s.exec(key ?? '') ?? []
  if (shown !== undefined) return decoded(shown)
  return key?.replace(/^"(.*)"$/s, '$1').replace(/\\(["\\])/g, '$1')
}

function decoded(shown: string): string {
  try {
    return decodeURIComponent(shown)
  } catch {
    throw new Refused('INVALID_REQUEST', 'the header Idempotency-Key has a percent sign that begins no character')
  }
}
