import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { unguessable } from '../../environment/secrecy.ts'
import { TriarchError } from '../../error/error.ts'
import { checkOptions } from '../../value/options.ts'
import { type Codec, invalidCodec } from './codec.ts'

/** A key and its id; each value names the id of the key that encrypted it. */
export interface EncryptionKey {
  /** Stored beside each value, in plain text: letters, digits, `.`, `_` and `-`, at most 64. It must never name another key. */
  id: string
  /** 32 bytes, or the same as base64. */
  key: Uint8Array | string
}

/**
 * Options of `encrypt`: the keys, of which the first is the current one.
 * @example
 * const keys = [{ id: '2027', key }, { id: '2026', key: process.env.OLD_KEY ?? '' }]
 * const codec = encrypt({ keys })
 *
 */
export interface EncryptOptions {
  /** The first key encrypts; every key decrypts the values that it encrypted. */
  keys: readonly EncryptionKey[]
}

/** The layout of an encrypted value: version, salt, nonce, tag, text. */
const VERSION = 1
const SALT = 16
const NONCE = 12
const TAG = 16
const HEADER = 1 + SALT + NONCE + TAG
/** Most values under one salt: nonces are random, and no two may ever be equal under one key. */
const PER_SALT = 2 ** 32
/** Most derived keys that are kept in memory: each process that encrypts has a salt of its own. */
const MOST_DERIVED = 1_000

/**
 * Returns a codec that encrypts with AES-256-GCM. Each process uses a key derived from yours (HKDF-SHA256) under a salt
 * of its own, so no number of values wears a key out. A value that was changed in the store, or encrypted with another
 * key of the same id, is refused with CODEC_FAILED; a missing key is CODEC_KEY_MISSING. Throws INVALID_OPTION,
 * UNKNOWN_OPTION.
 * @example
 * const codec = [compress(), encrypt({ keys: [{ id: '2026', key }] })]
 * const triarch = new Triarch({ store: sqlite('shop.db'), codec })
 *
 */
export function encrypt(options: EncryptOptions): Codec {
  checkOptions('encrypt', options, ['keys'])
  const keys = keysOf(options?.keys)
  const [current] = keys.keys() as Iterable<string> as [string]
  const derived = new Map<string, KeyObject>()
  const keyFor = (id: string, salt: Uint8Array): KeyObject => {
    const name = `${id} ${Buffer.from(salt).toString('base64')}`
    const known = derived.get(name)
    if (known) return known
    const key = keys.get(id)
    if (!key) throw new TriarchError('CODEC_KEY_MISSING', `there is no key "${id}"`, { details: { key: id } })
    const made = createSecretKey(Buffer.from(hkdfSync('sha256', key, salt, `triarch encrypt ${VERSION}`, 32)))
    const [oldest] = derived.keys()
    if (derived.size >= MOST_DERIVED && oldest !== undefined) derived.delete(oldest)
    derived.set(name, made)
    return made
  }
  let salt = Buffer.from(unguessable(SALT))
  let own: KeyObject | null = null
  let left = PER_SALT
  return {
    name: 'encrypt',
    encode: (data) => {
      if (left-- <= 0) {
        salt = Buffer.from(unguessable(SALT))
        own = null
        left = PER_SALT - 1
      }
      own ??= keyFor(current, salt)
      const nonce = unguessable(NONCE)
      const cipher = createCipheriv('aes-256-gcm', own, nonce).setAAD(Buffer.from(current))
      const text = cipher.update(data)
      cipher.final()
      return { key: current, data: Buffer.concat([Buffer.of(VERSION), salt, nonce, cipher.getAuthTag(), text]) }
    },
    decode: (data, id = '') => {
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      if (!keys.has(id))
        throw new TriarchError('CODEC_KEY_MISSING', `there is no key "${id}"`, { details: { key: id } })
      if (bytes.length < HEADER || bytes[0] !== VERSION) throw new Error('it is no value of this codec')
      const part = (from: number, size: number) => bytes.subarray(from, from + size)
      const key = keyFor(id, part(1, SALT))
      const decipher = createDecipheriv('aes-256-gcm', key, part(1 + SALT, NONCE), { authTagLength: TAG })
      decipher.setAuthTag(part(HEADER - TAG, TAG)).setAAD(Buffer.from(id))
      const text = decipher.update(bytes.subarray(HEADER))
      try {
        decipher.final()
      } catch (cause) {
        throw new Error('it was changed since it was encrypted, or the key of this id is another', { cause })
      }
      return text
    },
  }
}

function keysOf(given: unknown): Map<string, KeyObject> {
  if (!Array.isArray(given) || given.length === 0)
    throw invalidCodec('encrypt: keys must be a list of keys, one at least')
  const keys = new Map<string, KeyObject>()
  for (const { id, key } of given as EncryptionKey[]) {
    if (typeof id !== 'string' || !/^[\w.-]{1,64}$/.test(id))
      throw invalidCodec('encrypt: the id of a key must be letters, digits, ".", "_" and "-", at most 64')
    if (keys.has(id)) throw invalidCodec(`encrypt: two keys have the id "${id}"`)
    const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : key
    // The message must not contain any part of the key.
    if (!(bytes instanceof Uint8Array) || bytes.length !== 32)
      throw invalidCodec(`encrypt: key "${id}" must be 32 bytes, or the same as base64`)
    keys.set(id, createSecretKey(Buffer.from(bytes)))
  }
  return keys
}
