/** Who did something to a key, why, and when (ms since the epoch). */
export interface KeyAct {
  by: string
  reason: string
  at: number
}

/** One of the secrets by which a key is known: never itself. */
export interface KeySecret {
  /** SHA-256, in hexadecimal. */
  hash: string
  /** It holds until then (ms since the epoch); null: for as long as the key. */
  until: number | null
}

/** What there is of one key. */
export interface KeyState {
  /** Another one for each that ever was. */
  id: string
  rights: readonly string[]
  /** What it is for; null: nobody said. */
  note: string | null
  made: KeyAct
  /** When it ends (ms since the epoch); null: when it is revoked. */
  expiresAt: number | null
  /** The newest first; the one before it holds for a while yet. */
  secrets: readonly KeySecret[]
  rotated: KeyAct | null
  revoked: KeyAct | null
}

/** Whether a key holds. */
export type KeyStatus = 'active' | 'expired' | 'revoked'

export function keyStatus({ revoked, expiresAt }: KeyState, now: number): KeyStatus {
  if (revoked) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active'
}

/** Until when which secrets are the key's. */
export function secretsOf(state: KeyState, now: number): readonly KeySecret[] {
  if (keyStatus(state, now) !== 'active') return []
  return state.secrets.filter(({ until }) => until === null || until > now)
}

/** When it next loses something by the clock (ms since the epoch); null: never. */
export function nextLoss(state: KeyState, now: number): number | null {
  const ends = secretsOf(state, now).map(({ until }) => until ?? state.expiresAt)
  return ends.reduce((first, end) => (end === null ? first : Math.min(end, first ?? end)), null)
}

/** With another secret; the one so far holds until then, and any before it not any more. Null: the key has ended. */
export function rotated(state: KeyState, hash: string, overlap: number, act: KeyAct): KeyState | null {
  if (keyStatus(state, act.at) !== 'active') return null
  const [current] = state.secrets
  const before = current && overlap > 0 ? [{ hash: current.hash, until: act.at + overlap }] : []
  return { ...state, secrets: [{ hash, until: null }, ...before], rotated: act }
}

/** Null: it has ended. */
export function revoked(state: KeyState, act: KeyAct): KeyState | null {
  return keyStatus(state, act.at) === 'active' ? { ...state, secrets: [], revoked: act } : null
}
