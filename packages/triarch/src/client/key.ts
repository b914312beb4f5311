import type { KeyStatus } from '../policy/key.ts'
import type { Duration } from '../value/duration.ts'
import type { Right } from '../value/right.ts'
import type { RotatedSecret, SecretRotateOptions } from './secret.ts'

/**
 * Who did something to a key, and why.
 * @example const said = ({ actor, reason }: KeyWord) => `${actor}: ${reason}`
 */
export interface KeyWord {
  /** The actor; `operator` if none was named. */
  actor: string
  /** The reason; '' if none was given. */
  reason: string
  /** When (store's clock). */
  at: Date
}

/**
 * An API key, without its secret.
 * @example const unused = ({ status, usedAt }: KeyInfo) => status === 'active' && !usedAt
 */
export interface KeyInfo {
  /** Its name. Requests with it have the actor `key:` and this name in histories and in the audit. */
  name: string
  /** Distinguishes keys that had the same name at different times. */
  id: string
  /** `active`: it is valid; `expired`: its time is over; `revoked`: an operator revoked it. */
  status: KeyStatus
  /** What its holder may do. */
  rights: Right[]
  /** What it is for; undefined: not given. */
  note: string | undefined
  /** Who created it, when and why. */
  made: KeyWord
  /** When it expires; undefined: never. */
  expiresAt: Date | undefined
  /** When it was last used, accurate to ten minutes; undefined: never. */
  usedAt: Date | undefined
  /** Who last rotated its secret; undefined: it was not rotated. */
  rotated: KeyWord | undefined
  /** Until when the previous secret is valid too; undefined: it is not. */
  overlapsUntil: Date | undefined
  /** Who revoked it; undefined: it was not revoked. */
  revoked: KeyWord | undefined
}

/**
 * What a new key may do, and for how long.
 * @example
 * const rights = ['read', 'start'] as const
 * await triarch.keys.get('billing').create({ rights, expiresIn: '90d', note: 'the billing service' })
 */
export interface KeyCreateOptions {
  /** What its holder may do: at least one right. The rights cannot be changed later. */
  rights: readonly Right[]
  /** How long it is valid: up to ten years; by default until it is revoked. */
  expiresIn?: Duration
  /** What it is for: up to 1,000 characters; none by default. */
  note?: string
  /** The reason: up to 1,000 characters; '' by default. */
  reason?: string
  /** The actor; `operator` by default. */
  actor?: string
}

/**
 * Why something is done to a key, and by whom; both are stored.
 * @example await triarch.keys.get('billing').revoke({ reason: 'it was in a log', actor: 'ada' })
 */
export interface KeyActOptions {
  /** The reason: up to 1,000 characters. */
  reason: string
  /** The actor; `operator` by default. */
  actor?: string
}

/**
 * Why a key is rotated, and how long its previous secret stays valid.
 * @example await triarch.keys.get('billing').rotate({ reason: 'routine', overlap: '1d' })
 */
export interface KeyRotateOptions extends KeyActOptions {
  /** From 0, for a secret that others know, up to 90 days; one day by default. */
  overlap?: Duration
}

/**
 * A key with its secret, which is returned only once.
 * @example const shown = ({ secret }: IssuedKey) => console.log(`Authorization: Bearer ${secret}`)
 */
export interface IssuedKey {
  /** What its holder sends. It cannot be read again: the store has only its hash. */
  secret: string
  /** What others can see of the key. */
  key: KeyInfo
}

/**
 * Which keys to list, and how many.
 * @example const { keys } = await triarch.keys.list({ limit: 50 })
 */
export interface KeysOptions {
  /** `next` of the previous page. */
  cursor?: string
  /** Keys a page, at most: 1 to 1,000; 100. */
  limit?: number
}

/**
 * A page of the keys, by name.
 * @example
 * const page: KeyPage = await triarch.keys.list({ limit: 50 })
 * const rest = page.next === undefined ? null : await triarch.keys.list({ cursor: page.next })
 */
export interface KeyPage {
  /** The keys of this page, including expired and revoked ones. */
  keys: KeyInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/**
 * One API key: what others can see of it, and what an operator can do to it.
 * @example const { status, usedAt } = await triarch.keys.get('billing').info()
 */
export interface KeyHandle {
  /** Its name. */
  readonly name: string
  /**
   * Creates it and returns its secret, this once. Throws KEY_EXISTS, also if a key of this name ended within 90 days; TOO_MANY_KEYS,
   * INVALID_OPTION, INVALID_DURATION.
   * @example const { secret } = await triarch.keys.get('billing').create({ rights: ['read'], expiresIn: '90d' })
   */
  create(options: KeyCreateOptions): Promise<IssuedKey>
  /**
   * Its current state. Throws UNKNOWN_KEY.
   * @example const { status, usedAt } = await triarch.keys.get('billing').info()
   */
  info(): Promise<KeyInfo>
  /**
   * Replaces its secret and returns the new one, this once. The previous secret is valid for `overlap`; earlier ones no longer. Throws
   * UNKNOWN_KEY if there is no valid key; INVALID_OPTION, INVALID_DURATION.
   * @example const { secret } = await triarch.keys.get('billing').rotate({ reason: 'routine', overlap: '1d' })
   */
  rotate(options: KeyRotateOptions): Promise<IssuedKey>
  /**
   * Revokes it for ever: servers refuse it within about a second, and end what is open by it. Throws UNKNOWN_KEY if there is no valid
   * key; INVALID_OPTION.
   * @example await triarch.keys.get('billing').revoke({ reason: 'it was in a log', actor: 'ada' })
   */
  revoke(options: KeyActOptions): Promise<KeyInfo>
}

/**
 * The API keys, and the secret that signs tokens.
 * @example const { keys }: KeyPage = await triarch.keys.list()
 */
export interface KeyCollection {
  /**
   * An API key by its name; whether it exists is only checked when it is used. `@triarch/server` defines what a key's rights permit.
   * Throws INVALID_NAME.
   * @example const { secret } = await triarch.keys.get('billing').create({ rights: ['read'], expiresIn: '90d' })
   */
  get(name: string): KeyHandle

  /**
   * API keys by name, a page at a time, including those that have ended; never their secrets. Throws UNKNOWN_OPTION, INVALID_OPTION.
   * @example
   * const { keys } = await triarch.keys.list()
   * for (const { name, status, rights, usedAt } of keys) console.log(name, status, rights, usedAt)
   */
  list(options?: KeysOptions): Promise<KeyPage>

  /**
   * Rotates the secret that signs resume tokens and the tickets of connected agents; all nodes use the new one within a minute. What was
   * signed before is accepted for `overlap`; with 0, nodes that have not read the new secret yet accept it for another 30 s. Kept in the
   * audit. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION, STORE_BUSY.
   * @example await triarch.keys.rotateSecret({ reason: 'every quarter', overlap: '90d' })
   */
  rotateSecret(options: SecretRotateOptions): Promise<RotatedSecret>
}
