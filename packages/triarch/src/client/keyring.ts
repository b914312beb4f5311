import { timingSafeEqual } from 'node:crypto'
import { CallContext } from '../environment/context.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { type KeyState, nextLoss, secretsOf } from '../policy/key.ts'
import type { KeyRow, StateStore } from '../store/port.ts'
import { readKey } from '../value/key.ts'
import { type Right, rights } from '../value/right.ts'
import { storedKey } from './stored-key.ts'

/**
 * The name and rights of a verified key.
 * @example const principal = ({ name, rights }: VerifiedKey) => ({ id: `key:${name}`, rights })
 */
export interface VerifiedKey {
  /** Its name. */
  name: string
  /** What its holder may do. */
  rights: readonly Right[]
  /** When it expires; undefined: never. */
  expiresAt: Date | undefined
}

/**
 * The keys of the store, for a server that controls access to this engine. They are kept in memory and read anew within a second of a
 * change.
 * @example
 * const keyring: Keyring = triarch.serving.keyring()
 * const key = await keyring.verify(secret)
 */
export interface Keyring {
  /**
   * The key of this secret; null: there is none, or it is no longer valid. Verifying a known key costs a hash; an unknown secret waits
   * for the next read of the keys, which all such calls share. If the store is unreachable, known keys stay valid for five minutes.
   * Throws STORE_* if validity cannot be determined.
   * @example const key = await triarch.serving.keyring().verify(secret)
   */
  verify(secret: string): Promise<VerifiedKey | null>
  /**
   * Calls back when a key is no longer valid or has lost rights, so that open connections can be checked again, until the returned
   * function is called.
   * @example const off = triarch.serving.keyring().onLoss(() => console.log('look again'))
   */
  onLoss(listener: () => void): () => void
}

/** How current this process's knowledge of the keys is. */
export interface KeyringState {
  /** Time since the keys were last known to be current (ms). */
  age: number
  /** Why the last read failed; null: it did not fail. */
  failure: unknown
  /** How long known keys stay valid without the store (ms). */
  grace: number
}

interface CachedKey {
  state: KeyState
  usedAt: number
}

/** Interval between two reads while keys are being verified (ms), */
const LOOK = 1_000
/** and how long after the last verification they continue (ms). */
const AWHILE = 60_000
/** Keys older than OLD are read again before they are trusted, if that takes no longer than PATIENCE (ms). */
const OLD = 2_000
const PATIENCE = 1_000
/** The least interval between reads for unknown secrets (ms). */
const GAP = 100
/** How long known keys stay valid while they cannot be read again (ms). */
const GRACE = 300_000
/** The use of a key is recorded at most once in this time (ms). */
const COARSE = 600_000
/** Keys per page. */
const PAGE = 1_000

interface KeyringOptions {
  store: Pick<StateStore, 'keys' | 'keyMark' | 'useKeys'>
  environment: Environment
  opened: () => Promise<void>
  failed: (error: unknown) => void
}

/** The keys of a store, mirrored in memory. */
export class StoredKeyring implements Keyring {
  readonly #means: KeyringOptions
  readonly #known = new Map<string, CachedKey>()
  readonly #uses = new Map<string, number>()
  readonly #losses = new Set<() => void>()
  #mark: string | null = null
  /** Reads are numbered: a caller that needs the current keys waits for one that begins after the call. */
  #begun = 0
  #done = 0
  #reading: Promise<void> | null = null
  #beganAt = Number.NEGATIVE_INFINITY
  /** When the known keys were current (monotonic clock). */
  #readAt: number | null = null
  #failure: { error: unknown; at: number } | null = null
  #askedAt = 0
  /** When the next key expires or loses a secret by the clock (ms since the epoch). */
  #loss = Number.POSITIVE_INFINITY
  #timer: Timer | null = null
  #noting: Promise<void> | null = null
  #closed = false

  constructor(means: KeyringOptions) {
    this.#means = means
  }

  /** Null: no key has been verified yet. */
  get state(): KeyringState | null {
    if (this.#readAt === null && this.#failure === null) return null
    return { age: this.#age(), failure: this.#failure?.error ?? null, grace: GRACE }
  }

  async verify(secret: string): Promise<VerifiedKey | null> {
    const given = readKey(secret)
    if (!given) return null
    const { environment } = this.#means
    this.#askedAt = environment.monotonic()
    this.#arm()
    if (this.#age() > OLD && !this.#isFailing()) await this.#read().catch(() => undefined)
    const known = this.#age() < GRACE ? this.#find(given) : null
    if (known) return known
    // The secret may belong to a new key, or be a new secret of a known one. Guessing many secrets does not cause more reads, because all
    // share one.
    if (this.#failure && this.#isFailing()) throw unreachable(this.#failure.error)
    await this.#read()
    return this.#find(given)
  }

  onLoss(listener: () => void): () => void {
    this.#losses.add(listener)
    return () => void this.#losses.delete(listener)
  }

  /** Reads the keys anew, so that a change by this process applies here at once. */
  async refresh(): Promise<void> {
    if (this.#readAt !== null) await this.#read().catch(() => undefined)
  }

  /** Records the last uses. */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    await this.#note()
  }

  #find({ name, hash }: { name: string; hash: string }): VerifiedKey | null {
    const known = this.#known.get(name)
    if (!known) return null
    const now = this.#means.environment.now()
    const given = Buffer.from(hash, 'hex')
    // Every secret is compared completely, so that timing reveals nothing.
    const matches = secretsOf(known.state, now).map((it) => timingSafeEqual(given, Buffer.from(it.hash, 'hex')))
    if (!matches.includes(true)) return null
    if (now - known.usedAt >= COARSE) {
      known.usedAt = now
      this.#uses.set(name, now)
    }
    const { expiresAt } = known.state
    return {
      ...{ name, rights: rights.filter((right) => known.state.rights.includes(right)) },
      expiresAt: expiresAt === null ? undefined : new Date(expiresAt),
    }
  }

  #age(): number {
    return this.#readAt === null ? Number.POSITIVE_INFINITY : this.#means.environment.monotonic() - this.#readAt
  }

  /** Reads fail and are retried every second, so callers do not wait for them. */
  #isFailing(): boolean {
    return this.#failure !== null && this.#means.environment.monotonic() - this.#failure.at < 2 * (LOOK + PATIENCE)
  }

  /** Resolves after a read that began after this call. Throws STORE_UNAVAILABLE. */
  async #read(): Promise<void> {
    const { environment } = this.#means
    const number = this.#begun + 1
    const until = environment.monotonic() + PATIENCE
    while (this.#done < number) {
      this.#reading ??= this.#next().finally(() => {
        this.#reading = null
      })
      if (await within(environment, this.#reading, until - environment.monotonic())) continue
      const error = new Error('the store did not answer in time')
      this.#failure = { error, at: environment.monotonic() }
      throw unreachable(error)
    }
  }

  async #next(): Promise<void> {
    const { environment } = this.#means
    const wait = this.#beganAt + GAP - environment.monotonic()
    if (wait > 0) await new Promise<void>((resolve) => environment.timer(wait, resolve).unref?.())
    this.#beganAt = environment.monotonic()
    const number = ++this.#begun
    try {
      await CallContext.none.run(() => this.#look())
      this.#readAt = this.#beganAt
      this.#failure = null
      this.#done = number
    } catch (error) {
      this.#failure = { error, at: environment.monotonic() }
      throw unreachable(error)
    }
  }

  /** The mark is read first, so that a change during the read shows at the next one. */
  async #look(): Promise<void> {
    const { store, opened, failed } = this.#means
    await opened()
    const { mark } = await store.keyMark()
    if (mark === this.#mark) return
    const found = new Map<string, KeyRow>()
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: KeyRow[] = await store.keys({ after, limit: PAGE })
      for (const row of rows) found.set(row.name, row)
      after = rows.length < PAGE ? undefined : rows.at(-1)?.name
    }
    for (const { undecoded } of found.values()) if (undecoded) failed(undecoded)
    this.#take(found)
    this.#mark = mark
  }

  #take(rows: ReadonlyMap<string, KeyRow>): void {
    const now = this.#means.environment.now()
    let lost = false
    for (const [name, { state }] of this.#known) {
      const row = rows.get(name)
      const next = row ? storedKey(row) : null
      const kept = next?.id === state.id ? secretsOf(next, now).map(({ hash }) => hash) : []
      if (secretsOf(state, now).every(({ hash }) => kept.includes(hash))) continue
      lost = true
    }
    const used = new Map([...this.#known].map(([name, { usedAt }]) => [name, usedAt]))
    this.#known.clear()
    for (const [name, row] of rows) {
      const state = storedKey(row)
      if (!state || secretsOf(state, now).length === 0) continue
      this.#known.set(name, { state, usedAt: Math.max(row.usedAt ?? 0, used.get(name) ?? 0) })
    }
    this.#plan(now)
    if (lost) this.#tell()
  }

  #plan(now: number): void {
    this.#loss = Number.POSITIVE_INFINITY
    for (const { state } of this.#known.values())
      this.#loss = Math.min(this.#loss, nextLoss(state, now) ?? Number.POSITIVE_INFINITY)
  }

  #tell(): void {
    for (const listener of [...this.#losses]) listener()
  }

  #arm(): void {
    if (this.#timer || this.#closed) return
    this.#timer = CallContext.none.run(() => this.#means.environment.timer(LOOK, () => void this.#tick()))
    this.#timer.unref?.()
  }

  async #tick(): Promise<void> {
    const { environment } = this.#means
    const now = environment.now()
    if (now >= this.#loss) {
      this.#plan(now)
      this.#tell()
    }
    // Not awaited, so that it does not delay the next read.
    void this.#note()
    await this.#read().catch(() => undefined)
    this.#timer = null
    if (environment.monotonic() - this.#askedAt < AWHILE) this.#arm()
  }

  /** Records uses, once in ten minutes for each key; what could not be recorded is recorded later. */
  #note(): Promise<void> {
    this.#noting ??= this.#noted().finally(() => {
      this.#noting = null
    })
    return this.#noting
  }

  async #noted(): Promise<void> {
    const uses = [...this.#uses].map(([name, at]) => ({ name, at }))
    if (uses.length === 0) return
    this.#uses.clear()
    try {
      await this.#means.store.useKeys(uses)
    } catch {
      for (const { name, at } of uses) if (!this.#uses.has(name)) this.#uses.set(name, at)
    }
  }
}

/** Resolves to false if the work takes longer than `ms`. Rejects as the work does. */
async function within(environment: Environment, work: Promise<void>, ms: number): Promise<boolean> {
  let timer: Timer | null = null
  const late = new Promise<boolean>((resolve) => {
    timer = environment.timer(Math.max(0, ms), () => resolve(false))
    timer.unref?.()
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    ;(timer as Timer | null)?.cancel()
  }
}

function unreachable(error: unknown): TriarchError {
  return new TriarchError('STORE_UNAVAILABLE', 'nobody can say now whether this is a key', { cause: error })
}
