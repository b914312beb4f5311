import type { TriarchError } from '../error/error.ts'
import type { Audited } from './audit.ts'

/** What the store has of one API key. */
export interface KeyRow {
  /** Which. */
  name: string
  /** Rises with each write; not with uses. */
  revision: number
  /** When it was used last, coarsely (ms since the epoch); null: never. */
  usedAt: number | null
  /** What it is, as JSON text; never the key itself. */
  state: string
  /** Why it cannot be decoded; its text is no JSON then. */
  undecoded?: TriarchError
}

/** These; those behind a name; those that ended before an instant. By name. */
export type KeyQuery =
  | { names: readonly string[] }
  | { after: string; limit: number }
  | { endedBefore: number; limit: number }

/** A change of one key. */
export interface KeyWrite extends Audited {
  /** Which. */
  name: string
  /** The revision it was read at; 0: there was no row. */
  expected: number
  /** By the store's clock (ms since the epoch). */
  at: number
  /** When it ends, or ended (ms since the epoch); null: it does not. */
  endsAt: number | null
  /** As JSON text; null: drops the row. */
  state: string | null
}

/** When a key was used. */
export interface KeyUse {
  /** Which. */
  name: string
  /** When (ms since the epoch). */
  at: number
}

/** What a store does for API keys. */
export interface KeyStore {
  /** Keys, those that ended among them. */
  keys(query: KeyQuery): Promise<KeyRow[]>
  /** Another mark after each change of any key, not after uses; and how many rows there are. */
  keyMark(): Promise<{ mark: string; count: number }>
  /** False: it was at another revision, and nothing was written. */
  writeKey(write: KeyWrite): Promise<boolean>
  /** Notes uses; never back in time. */
  useKeys(uses: readonly KeyUse[]): Promise<void>
}
