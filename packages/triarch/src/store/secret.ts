import type { Audited } from './audit.ts'

/** A secret of the store, with which its tokens and tickets are signed. */
export interface SecretRow {
  /** Its number: the highest is the newest. */
  number: number
  /** 256 random bits in Base64url. */
  secret: string
  /** When it was made, by the store's clock (ms since the epoch). */
  madeAt: number
  /** Until when older secrets remain valid (ms since the epoch); null: without an end. */
  overlapsUntil: number | null
}

/** A new secret. */
export interface SecretWrite extends Audited, SecretRow {
  /** Secrets with lower numbers are dropped. */
  keepFrom: number
}

/** The calls of a store for its secrets. */
export interface SecretStore {
  /** Returns the secrets, the newest first. */
  secrets(): Promise<SecretRow[]>
  /** Adds a secret. Returns false if there is one with this number; then nothing was written. */
  writeSecret(write: SecretWrite): Promise<boolean>
}
