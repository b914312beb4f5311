import { unguessable } from '../environment/secrecy.ts'
import { TriarchError } from '../error/error.ts'
import { type KeyAct, type KeyState, keyStatus, revoked, rotated, secretsOf } from '../policy/key.ts'
import { objectOf } from '../store/legible.ts'
import type { KeyRow, KeyWrite } from '../store/port.ts'
import type { SigningKeys } from '../store/signing-keys.ts'
import { milliseconds, positiveMilliseconds } from '../value/duration.ts'
import { checkKeyName, keyHash, keyText, SECRET_BYTES } from '../value/key.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { checkRights, rights } from '../value/right.ts'
import { checkText } from '../value/text.ts'
import { actor as acting, entryOf } from './act.ts'
import type { Connection } from './connection.ts'
import type {
  IssuedKey,
  KeyActOptions,
  KeyCollection,
  KeyCreateOptions,
  KeyHandle,
  KeyInfo,
  KeyPage,
  KeyRotateOptions,
  KeysOptions,
  KeyWord,
} from './key.ts'
import { rotateSecret } from './secret.ts'

/** Gives up after concurrent changes have won this many times. */
const PATIENCE = 20
const LONGEST_TEXT = 1_000
const LONGEST_NAME = 200
const MOST = 1_000
/** Most keys, including those that have ended. */
const MOST_KEYS = 10_000
/** How long ended keys are kept, unless there is no room (ms); and how many are deleted at a time when a key is created. */
const KEPT = 90 * 86_400_000
const DROPPED = 100
const OVERLAP = '1d'
const LONGEST_OVERLAP = 90 * 86_400_000

/** A key in the store, by name. */
class StoredKeyHandle implements KeyHandle {
  readonly name: string
  readonly #connection: Connection
  readonly #changed: () => Promise<void>

  /** `changed`: called after a change, so that this process reads the keys anew. */
  constructor(connection: Connection, name: string, changed: () => Promise<void>) {
    this.name = checkKeyName(name)
    this.#connection = connection
    this.#changed = changed
  }

  async create(options: KeyCreateOptions): Promise<IssuedKey> {
    checkOptions('create', options ?? null, ['rights', 'expiresIn', 'note', 'reason', 'actor'])
    const { expiresIn, note, reason = '' } = options
    const held = checkRights('create: rights', options.rights)
    const lasts = expiresIn === undefined ? null : positiveMilliseconds(expiresIn, 'create: expiresIn')
    if (note !== undefined) checkText('create: note', note, LONGEST_TEXT)
    const by = this.#by('create', { ...options, reason })
    await this.#connection.opened()
    const { store, environment } = this.#connection
    const now = await store.now()
    await this.#tidied(now)
    const secret = keyText(this.name, unguessable(SECRET_BYTES))
    const state: KeyState = {
      ...{ id: environment.id(), rights: held, note: note ?? null, made: { by, reason, at: now } },
      expiresAt: lasts === null ? null : now + lasts,
      ...{ secrets: [{ hash: keyHash(secret), until: null }], rotated: null, revoked: null },
    }
    const details = { rights: held, expiresAt: state.expiresAt ?? undefined, note }
    const done = await this.#write(0, state, { action: 'create', by, reason, details })
    // The call may have been repeated because its answer was lost; then the key is there already.
    if (!done && (await this.#read())?.state.id !== state.id)
      throw new TriarchError('KEY_EXISTS', `there is a key "${this.name}", or there was one within 90 days`)
    await this.#changed()
    return { secret, key: await this.info() }
  }

  async info(): Promise<KeyInfo> {
    await this.#connection.opened()
    const [row] = await this.#connection.store.keys({ names: [this.name] })
    if (row?.undecoded) throw row.undecoded
    return (row && keyInfo(row, await this.#connection.store.now())) ?? this.#unknown('is none')
  }

  async rotate(options: KeyRotateOptions): Promise<IssuedKey> {
    checkOptions('rotate', options ?? null, ['reason', 'actor', 'overlap'])
    const { reason, overlap: given = OVERLAP } = options
    const overlap = milliseconds(given, 'rotate: overlap')
    checkInteger('rotate: overlap', overlap, 0, LONGEST_OVERLAP)
    const by = this.#by('rotate', options)
    const secret = keyText(this.name, unguessable(SECRET_BYTES))
    const hash = keyHash(secret)
    await this.#change({ action: 'rotate', by, reason, details: { overlap } }, (state, at) =>
      state.secrets[0]?.hash === hash ? 'done' : rotated(state, hash, overlap, { by, reason, at }),
    )
    return { secret, key: await this.info() }
  }

  async revoke(options: KeyActOptions): Promise<KeyInfo> {
    checkOptions('revoke', options ?? null, ['reason', 'actor'])
    const { reason } = options
    const by = this.#by('revoke', options)
    await this.#change({ action: 'revoke', by, reason }, (state, at) =>
      state.revoked?.by === by && state.revoked.reason === reason ? 'done' : revoked(state, { by, reason, at }),
    )
    return this.info()
  }

  #by(what: string, { reason, actor = acting() ?? 'operator' }: { reason: string; actor?: string }): string {
    checkText(`${what}: reason`, reason, LONGEST_TEXT)
    return checkText(`${what}: actor`, actor, LONGEST_NAME)
  }

  async #change(act: KeyDeed, change: (state: KeyState, at: number) => KeyState | 'done' | null): Promise<void> {
    await this.#connection.opened()
    for (let round = 0; round < PATIENCE; round++) {
      const { revision, state } = (await this.#read()) ?? this.#unknown('is none')
      const next = change(state, await this.#connection.store.now())
      if (next === null) this.#unknown('is none any more')
      if (next === 'done' || (await this.#write(revision, next, act))) return this.#changed()
    }
    throw new TriarchError('STORE_BUSY', `key "${this.name}" changes all the time`)
  }

  async #write(expected: number, state: KeyState, { action, by, reason, details }: KeyDeed): Promise<boolean> {
    const { store, environment } = this.#connection
    const subject = `key:${this.name}`
    const audit = entryOf(environment, {
      ...{ action: `key.${action}`, subject, actor: by, ...(reason !== '' && { reason }) },
      details: { id: state.id, ...details },
    })
    const write: KeyWrite = {
      ...{ name: this.name, expected, at: await store.now(), state: JSON.stringify({ format: 1, state }), audit },
      endsAt: state.revoked?.at ?? state.expiresAt,
    }
    return store.writeKey(write)
  }

  async #read(): Promise<{ revision: number; state: KeyState } | null> {
    const [row] = await this.#connection.store.keys({ names: [this.name] })
    if (row?.undecoded) throw row.undecoded
    const state = row && storedKey(row)
    return row && state ? { revision: row.revision, state } : null
  }

  /** Makes room for another key. Throws TOO_MANY_KEYS. */
  async #tidied(now: number): Promise<void> {
    const { store } = this.#connection
    const drop = async (endedBefore: number) => {
      const ended = await store.keys({ endedBefore, limit: DROPPED })
      for (const { name, revision } of ended)
        await store.writeKey({ name, expected: revision, at: now, endsAt: null, state: null })
    }
    await drop(now - KEPT)
    if ((await store.keyMark()).count < MOST_KEYS) return
    await drop(now)
    if ((await store.keyMark()).count >= MOST_KEYS)
      throw new TriarchError('TOO_MANY_KEYS', `there are ${MOST_KEYS} keys that hold`)
  }

  #unknown(why: string): never {
    throw new TriarchError('UNKNOWN_KEY', `there ${why} of the name "${this.name}"`)
  }
}

interface KeyDeed {
  action: 'create' | 'rotate' | 'revoke'
  by: string
  reason: string
  details?: Readonly<Record<string, unknown>>
}

/** The keys in the store. `changed`: called after a change by this process. */
export function apiKeysOf(connection: Connection, signing: SigningKeys, changed: () => Promise<void>): KeyCollection {
  return {
    get: (name) => new StoredKeyHandle(connection, name, changed),
    list: (options = {}) => listKeys(connection, options),
    rotateSecret: (options) => rotateSecret(connection, signing, options),
  }
}

/** Leaves out keys that cannot be read. Throws UNKNOWN_OPTION, INVALID_OPTION. */
async function listKeys({ store, opened }: Connection, options: KeysOptions): Promise<KeyPage> {
  checkOptions('keys.list', options, ['cursor', 'limit'])
  const { cursor = '', limit = 100 } = options
  checkInteger('keys.list: limit', limit, 1, MOST)
  checkText('keys.list: cursor', cursor, LONGEST_NAME)
  await opened()
  const [rows, now] = await Promise.all([store.keys({ after: cursor, limit: limit + 1 }), store.now()])
  const last = rows[limit - 1]
  const keys = rows.slice(0, limit).flatMap((row) => keyInfo(row, now) ?? [])
  return { keys, ...(rows.length > limit && last && { next: last.name }) }
}

/** Null: the row cannot be read. */
export function storedKey({ state: text, undecoded }: KeyRow): KeyState | null {
  const stored = undecoded ? null : objectOf<{ format: 1; state: KeyState }>(text)
  return stored?.format === 1 && Array.isArray(stored.state?.secrets) ? stored.state : null
}

function keyInfo(row: KeyRow, now: number): KeyInfo | null {
  const state = storedKey(row)
  if (!state) return null
  const { id, note, made, expiresAt, rotated, revoked } = state
  const [, before] = secretsOf(state, now)
  return {
    ...{ name: row.name, id, status: keyStatus(state, now), rights: rights.filter((it) => state.rights.includes(it)) },
    ...{ note: note ?? undefined, made: wordOf(made), expiresAt: dateOf(expiresAt), usedAt: dateOf(row.usedAt) },
    ...{ rotated: rotated ? wordOf(rotated) : undefined, overlapsUntil: dateOf(before?.until) },
    revoked: revoked ? wordOf(revoked) : undefined,
  }
}

function dateOf(at: number | null | undefined): Date | undefined {
  return at == null ? undefined : new Date(at)
}

function wordOf({ by, reason, at }: KeyAct): KeyWord {
  return { actor: by, reason, at: new Date(at) }
}
