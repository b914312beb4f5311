import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'
import { CallContext } from '../environment/context.ts'
import type { Environment } from '../environment/environment.ts'
import type { ChannelKeys } from '../environment/network.ts'
import { unguessable } from '../environment/secrecy.ts'
import { holding, signing } from '../policy/secret.ts'
import type { SecretRow, StateStore } from './port.ts'

/** The purpose of a key. A signature for one purpose is not valid for another. */
export type Purpose = 'token' | 'ticket' | 'direct'

export interface SigningDeps {
  store: Pick<StateStore, 'secrets' | 'writeSecret' | 'now'>
  environment: Environment
  failed: (error: unknown) => void
}

const SECRET_BYTES = 32
/** The age after which the secrets are read again (ms). */
const REFRESH = 30_000
/** The most characters of a signed text; longer ones are refused unread. */
const LONGEST = 4_096
/** Replaces an unknown key, so that refusing takes as long as checking. */
const nobody = createSecretKey(unguessable(SECRET_BYTES))

/**
 * The keys with which this process signs and checks tokens, tickets and connections between nodes. There is one for
 * each purpose, derived from secrets in the store, which are kept in memory and read again when they are older than 30
 * s (docs/internals/remote-agents.md).
 */
export class SigningKeys {
  readonly #means: SigningDeps
  /** The newest first. */
  #secrets: readonly SecretRow[] = []
  readonly #derived = new Map<string, KeyObject>()
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | null = null

  constructor(means: SigningDeps) {
    this.#means = means
  }

  /** Prepares a process that signs: makes the first secret of a new store. Throws STORE_*. */
  async start(): Promise<void> {
    await this.known()
    if (!this.#signing()) await this.#makeFirst()
  }

  /** Resolves once there is a secret to sign with. Throws STORE_*. */
  async ready(): Promise<void> {
    if (!this.#signing()) await this.start()
  }

  /** Resolves once the secrets are in memory, no older than 30 s. Throws STORE_*. */
  async known(): Promise<void> {
    if (this.#isOld) await this.read()
  }

  get #isOld(): boolean {
    return this.#means.environment.monotonic() - this.#readAt >= REFRESH
  }

  /** Reads the secrets now. Throws STORE_*. */
  read(): Promise<void> {
    this.#reading ??= CallContext.none
      .run(() => this.#read())
      .finally(() => {
        this.#reading = null
      })
    return this.#reading
  }

  /** Reads the secrets in the background if they are older than 30 s. A node calls it with each renewal of its lease. */
  refresh(): void {
    // If the read fails, the next call tries again.
    if (this.#isOld) this.read().catch(this.#means.failed)
  }

  /** Signs a text: returns the number of the secret, the text and the signature, separated by dots. */
  sign(purpose: Purpose, text: string): string {
    this.refresh()
    const secret = this.#current()
    const signed = `${secret.number}.${text}`
    return `${signed}.${this.#mac(this.#keyOf(secret, purpose), signed).toString('base64url')}`
  }

  /** Returns the text that was signed for this purpose; null if the signature is not valid. Takes as long for any text of one length. */
  verify(purpose: Purpose, given: string): string | null {
    if (typeof given !== 'string' || given.length > LONGEST) return null
    const end = given.lastIndexOf('.')
    const begin = given.indexOf('.')
    const number = given.slice(0, Math.max(0, begin))
    const secret = this.#held().find((it) => String(it.number) === number)
    const key = secret ? this.#keyOf(secret, purpose) : nobody
    const mac = this.#mac(key, given.slice(0, Math.max(0, end)))
    const claimed = Buffer.from(given.slice(end + 1), 'base64url')
    const isSame = claimed.length === mac.length && timingSafeEqual(claimed, mac)
    return isSame && secret && end > begin ? given.slice(begin + 1, end) : null
  }

  /** The keys for connections between nodes of the store. */
  readonly channel: ChannelKeys = {
    current: () => {
      const secret = this.#current()
      return { number: secret.number, key: this.#keyOf(secret, 'direct').export() }
    },
    numbered: (number) => {
      const secret = this.#held().find((it) => it.number === number)
      return secret ? this.#keyOf(secret, 'direct').export() : null
    },
  }

  #held(): SecretRow[] {
    const held = holding(this.#secrets, this.#means.environment.now())
    return held.filter(({ secret }) => secret !== '')
  }

  #current(): SecretRow {
    const secret = this.#signing()
    if (!secret) throw new Error('the secrets of the store were not read')
    return secret
  }

  #signing(): SecretRow | undefined {
    return signing(this.#held(), this.#means.environment.now())
  }

  #keyOf({ secret }: SecretRow, purpose: Purpose): KeyObject {
    const name = `${purpose} ${secret}`
    const known = this.#derived.get(name)
    if (known) return known
    const bytes = hkdfSync('sha256', Buffer.from(secret, 'base64url'), '', `triarch ${purpose}`, SECRET_BYTES)
    const key = createSecretKey(Buffer.from(bytes))
    this.#derived.set(name, key)
    return key
  }

  #mac(key: KeyObject, text: string): Buffer {
    return createHmac('sha256', key).update(text).digest()
  }

  async #read(): Promise<void> {
    const { store, environment } = this.#means
    const asked = environment.monotonic()
    const secrets = await store.secrets()
    this.#secrets = secrets
    this.#readAt = asked
    const names = new Set(secrets.map(({ secret }) => secret))
    for (const name of this.#derived.keys())
      if (!names.has(name.slice(name.indexOf(' ') + 1))) this.#derived.delete(name)
  }

  /**
   * Makes the first secret; of several processes that try, one succeeds. A secret that this process cannot decode
   * remains valid for others.
   */
  async #makeFirst(): Promise<void> {
    const { store } = this.#means
    await store.writeSecret({
      number: (this.#secrets[0]?.number ?? 0) + 1,
      secret: unguessable(SECRET_BYTES).toString('base64url'),
      madeAt: await store.now(),
      ...{ overlapsUntil: null, keepFrom: 0 },
    })
    await this.read()
    if (!this.#signing()) throw new Error('the store keeps no secret')
  }
}
