/** Who acted on a key, why, and when (ms since the epoch). */
export interface KeyAct {
  by: string
  reason: string
  at: number
}

/** A secret of a key, as its hash; the secret itself is never stored. */
export interface KeySecret {
  /** SHA-256, in hexadecimal. */
  hash: string
  /** The secret is valid until then (ms since the epoch); null: as long as the key. */
  until: number | null
}

/** The state of one access key. */
export interface KeyState {
  /** Unique among all keys that ever existed. */
  id: string
  rights: readonly string[]
  /** The key's purpose; null: none was given. */
  note: string | null
  made: KeyAct
  /** When the key expires (ms since the epoch); null: it is valid until it is revoked. */
  expiresAt: number | null
  /** Newest first. After a rotation the previous secret stays valid for a while. */
  secrets: readonly KeySecret[]
  rotated: KeyAct | null
  revoked: KeyAct | null
}

/** Whether a key is valid. */
export type KeyStatus = 'active' | 'expired' | 'revoked'

export function keyStatus({ revoked, expiresAt }: KeyState, now: number): KeyStatus {
  if (revoked) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active'
}

/** The secrets that are valid now. */
export function secretsOf(state: KeyState, now: number): readonly KeySecret[] {
  if (keyStatus(state, now) !== 'active') return []
  return state.secrets.filter(({ until }) => until === null || until > now)
}

/** When the next secret, or the key, expires (ms since the epoch); null: never. */
export function nextLoss(state: KeyState, now: number): number | null {
  const ends = secretsOf(state, now).map(({ until }) => until ?? state.expiresAt)
  return ends.reduce((first, end) => (end === null ? first : Math.min(end, first ?? end)), null)
}

/** The key with a new secret. The current one stays valid for `overlap` ms, earlier ones become invalid. Null: the key has ended. */
export function rotated(state: KeyState, hash: string, overlap: number, act: KeyAct): KeyState | null {
  if (keyStatus(state, act.at) !== 'active') return null
  const [current] = state.secrets
  const before = current && overlap > 0 ? [{ hash: current.hash, until: act.at + overlap }] : []
  return { ...state, secrets: [{ hash, until: null }, ...before], rotated: act }
}

/** The key, revoked. Null: it has ended already. */
export function revoked(state: KeyState, act: KeyAct): KeyState | null {
  return keyStatus(state, act.at) === 'active' ? { ...state, secrets: [], revoked: act } : null
}
