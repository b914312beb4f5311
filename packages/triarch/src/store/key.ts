import type { TriarchError } from '../error/error.ts'
import type { Audited } from './audit.ts'

/** One API key, as stored. */
export interface KeyRow {
  /** The name of the key. */
  name: string
  /** Rises with each write, but not with uses. */
  revision: number
  /** Roughly when it was last used (ms since the epoch); null: never. */
  usedAt: number | null
  /** Its description, as JSON text; never the key itself. */
  state: string
  /** Why it cannot be decoded; then its text is not JSON. */
  undecoded?: TriarchError
}

/** Selects keys by name, a page behind a name, or those that ended before an instant. Ordered by name. */
export type KeyQuery =
  | { names: readonly string[] }
  | { after: string; limit: number }
  | { endedBefore: number; limit: number }

/** A write of one key. */
export interface KeyWrite extends Audited {
  /** The name of the key. */
  name: string
  /** The revision at which it was read; 0: there was no row. */
  expected: number
  /** The store's clock (ms since the epoch). */
  at: number
  /** When it ends, or ended (ms since the epoch); null: it does not. */
  endsAt: number | null
  /** The new state, as JSON text; null: deletes the row. */
  state: string | null
}

/** A use of a key. */
export interface KeyUse {
  /** The name of the key. */
  name: string
  /** When (ms since the epoch). */
  at: number
}

/** The calls of a store for API keys. */
export interface KeyStore {
  /** Returns keys, including ended ones. */
  keys(query: KeyQuery): Promise<KeyRow[]>
  /** Returns a mark that changes with each change of any key, but not with uses; and the number of rows. */
  keyMark(): Promise<{ mark: string; count: number }>
  /** Writes a key. Returns false if it has another revision; then nothing was written. */
  writeKey(write: KeyWrite): Promise<boolean>
  /** Records uses; a use that is older than the recorded one changes nothing. */
  useKeys(uses: readonly KeyUse[]): Promise<void>
}
