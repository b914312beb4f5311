import { TriarchError } from '../../error/error.ts'
import { checkFunction } from '../../value/options.ts'

/** What a codec made of a value. */
export interface Encoded {
  /** The value as it is kept. */
  data: Uint8Array
  /** What decoding needs besides, such as the id of a key; kept beside the value, in plain text. */
  key?: string
}

/**
 * How payloads are kept in the store: compressed, encrypted, or in another way of your own. It is called for each value that is
 * written or read, on the event loop, so it must be quick.
 * @example
 * const reversed: Codec = {
 *   name: 'reversed',
 *   encode: (data) => ({ data: data.toReversed() }),
 *   decode: (data) => data.toReversed(),
 * }
 */
export interface Codec {
  /** Kept with each value that it encoded, for whoever decodes: it must never mean anything else. `[a-z][a-z0-9-]*`, at most 32. */
  readonly name: string
  /** Null: the value is best left as it is. What it throws fails the write with STORE_FAILED, and nothing is written. */
  encode(data: Uint8Array): Encoded | null
  /** What `encode` was given. What it throws is CODEC_FAILED, unless it is a TriarchError. */
  decode(data: Uint8Array, key: string | undefined): Uint8Array
}

/**
 * Decodes only: for the first half of a roll-out, in which some nodes cannot read yet what the codec encodes.
 * @example const codec = readOnly(encrypt({ keys: [{ id: '2026', key }] }))
 */
export function readOnly(codec: Codec): Codec {
  checkCodecs('readOnly', codec)
  return { name: codec.name, encode: () => null, decode: (data, key) => codec.decode(data, key) }
}

/** The codecs, in the order in which they encode. Throws INVALID_OPTION, UNKNOWN_OPTION. */
export function checkCodecs(what: string, given: unknown): Codec[] {
  const codecs = given === undefined ? [] : [given].flat()
  for (const codec of codecs as (Partial<Codec> | null)[]) {
    if (typeof codec !== 'object' || codec === null) throw invalid(`${what}: codec must be a codec, such as compress()`)
    if (typeof codec.name !== 'string' || !/^[a-z][a-z0-9-]{0,31}$/.test(codec.name))
      throw invalid(`${what}: the name of a codec must be lower-case letters, digits and hyphens, at most 32`)
    checkFunction(`${what}: encode of codec "${codec.name}"`, codec.encode)
    checkFunction(`${what}: decode of codec "${codec.name}"`, codec.decode)
  }
  const names = (codecs as Codec[]).map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw invalid(`${what}: two codecs are named "${twice}"`)
  return codecs as Codec[]
}

export function invalid(message: string): TriarchError {
  return new TriarchError('INVALID_OPTION', message)
}
