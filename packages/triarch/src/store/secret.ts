import type { Audited } from './audit.ts'

/** A secret of the store: what its tokens and tickets are signed by. */
export interface SecretRow {
  /** Counts up: the one with the highest number is the newest. */
  number: number
  /** 256 random bits in Base64url. */
  secret: string
  /** When it was made, by the store's clock (ms since the epoch). */
  madeAt: number
  /** Until when those before it hold, too (ms since the epoch); null: without an end. */
  overlapsUntil: number | null
}

/** Another secret. */
export interface SecretWrite extends Audited, SecretRow {
  /** Secrets with lower numbers are dropped. */
  keepFrom: number
}

/** What a store does for its secrets. */
export interface SecretStore {
  /** Its secrets, the newest first. */
  secrets(): Promise<SecretRow[]>
  /** Adds one. False: there is one of that number, and nothing was written. */
  writeSecret(write: SecretWrite): Promise<boolean>
}
