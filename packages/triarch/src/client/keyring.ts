import { timingSafeEqual } from 'node:crypto'
import { CallContext } from '../environment/context.ts'
import type { Environment, Timer } from '../environment/environment.ts'
import { TriarchError } from '../error/error.ts'
import { type KeyState, nextLoss, secretsOf } from '../policy/key.ts'
import type { KeyRow, StateStore } from '../store/port.ts'
import { readKey } from '../value/key.ts'
import { type Right, rights } from '../value/right.ts'
import { storedKey } from './key.ts'

/**
 * Whom a key stands for.
 * @example const principal = ({ name, rights }: VerifiedKey) => ({ id: `key:${name}`, rights })
 */
export interface VerifiedKey {
  /** Its name. */
  name: string
  /** What its holder may do. */
  rights: readonly Right[]
  /** When it ends by itself; undefined: it does not. */
  expiresAt: Date | undefined
}

/**
 * The keys of the store, for whoever guards a way to this engine: they are in memory, and read anew a second after they changed.
 * @example
 * const keyring: Keyring = triarch.keyring()
 * const key = await keyring.verify(secret)
 */
export interface Keyring {
  /**
   * Whose key it is; null: it is none, or not any more. One that is known costs a hash; what is not known waits for the next reading, which all
   * share who wait. With the store out of reach, keys that are known hold for five minutes. Throws STORE_*: nobody can say.
   * @example const key = await triarch.keyring().verify(secret)
   */
  verify(secret: string): Promise<VerifiedKey | null>
  /**
   * Calls back when a key holds no longer, or less, until the function returned is called: what is open by it is to be looked at again.
   * @example const off = triarch.keyring().onLoss(() => console.log('look again'))
   */
  onLoss(listener: () => void): () => void
}

/** How the keys are known here. */
export interface KeyringState {
  /** Since when the store has not told of them (ms). */
  age: number
  /** Why the last reading failed; null: it did not. */
  failure: unknown
  /** How long those that are known hold without it (ms). */
  grace: number
}

interface Known {
  state: KeyState
  usedAt: number
}

/** Keys are looked at so often while somebody asks (ms), */
const LOOK = 1_000
/** and for so long after. */
const AWHILE = 60_000
/** What is older is read again before it is believed, if that takes no longer than this (ms). */
const OLD = 2_000
const PATIENCE = 1_000
/** Readings for the sake of keys that are not known begin no closer to each other (ms). */
const GAP = 100
/** So long keys hold that cannot be read again (ms). */
const GRACE = 300_000
/** A use is noted once in this time (ms). */
const COARSE = 600_000
/** Keys of one reading. */
const PAGE = 1_000

interface Means {
  store: Pick<StateStore, 'keys' | 'keyMark' | 'useKeys'>
  environment: Environment
  opened: () => Promise<void>
  failed: (error: unknown) => void
}

/** The keys of a store, mirrored. */
export class StoredKeyring implements Keyring {
  readonly #means: Means
  readonly #known = new Map<string, Known>()
  readonly #uses = new Map<string, number>()
  readonly #losses = new Set<() => void>()
  #mark: string | null = null
  /** Readings are numbered: who needs what is true now needs one that has not begun. */
  #begun = 0
  #done = 0
  #reading: Promise<void> | null = null
  #beganAt = Number.NEGATIVE_INFINITY
  /** When what is known was true (monotonic). */
  #readAt: number | null = null
  #failure: { error: unknown; at: number } | null = null
  #askedAt = 0
  /** When the next key loses something by the clock (ms since the epoch). */
  #loss = Number.POSITIVE_INFINITY
  #timer: Timer | null = null
  #noting: Promise<void> | null = null
  #closed = false

  constructor(means: Means) {
    this.#means = means
  }

  /** Null: nobody has asked yet. */
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
    // It may be new, or another secret of one that is known. Whoever tries many waits with all others for one reading.
    if (this.#failure && this.#isFailing()) throw unreachable(this.#failure.error)
    await this.#read()
    return this.#find(given)
  }

  onLoss(listener: () => void): () => void {
    this.#losses.add(listener)
    return () => void this.#losses.delete(listener)
  }

  /** What was changed here holds here at once. */
  async refresh(): Promise<void> {
    if (this.#readAt !== null) await this.#read().catch(() => undefined)
  }

  /** Notes the last uses. */
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
    // Each of them is compared, and whole, whatever the others are.
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

  /** It has failed, and is tried again each second: nobody waits for that. */
  #isFailing(): boolean {
    return this.#failure !== null && this.#means.environment.monotonic() - this.#failure.at < 2 * (LOOK + PATIENCE)
  }

  /** Resolves when a reading has been done that had not begun. Throws STORE_UNAVAILABLE. */
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

  /** The mark first: what changes meanwhile shows in the next one. */
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
    // However long that takes, keys are looked at again.
    void this.#note()
    await this.#read().catch(() => undefined)
    this.#timer = null
    if (environment.monotonic() - this.#askedAt < AWHILE) this.#arm()
  }

  /** Once in ten minutes a key; what could not be noted is, later. */
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

/** Whether it took no longer. Rejects as it does. */
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
