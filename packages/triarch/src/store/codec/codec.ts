import { TriarchError } from '../../error/error.ts'
import { checkFunction } from '../../value/options.ts'

/** The result of a codec for one value. */
export interface Encoded {
  /** The encoded value. */
  data: Uint8Array
  /** Whatever else decoding needs, such as the id of a key; stored beside the value, in plain text. */
  key?: string
}

/**
 * How payloads are stored: compressed, encrypted, or in another way of your own. A codec is called for each value that
 * is written or read, on the event loop, so it must be quick.
 * @example
 * const reversed: Codec = {
 *   name: 'reversed',
 *   encode: (data) => ({ data: data.toReversed() }),
 *   decode: (data) => data.toReversed(),
 * }
 *
 */
export interface Codec {
  /**
   * Stored with each encoded value, so that it can be decoded: a name must never be reused for another codec.
   * `[a-z][a-z0-9-]*`, at most 32 characters.
   */
  readonly name: string
  /** Encodes a value; returns null to store the value as it is. An error fails the write with STORE_FAILED, and nothing is written. */
  encode(data: Uint8Array): Encoded | null
  /** Returns the value that was encoded. An error becomes CODEC_FAILED, unless it is a TriarchError. */
  decode(data: Uint8Array, key: string | undefined): Uint8Array
}

/**
 * Returns a codec that only decodes: for the first half of a roll-out, in which some nodes cannot read yet what the
 * codec encodes.
 * @example const codec = readOnly(encrypt({ keys: [{ id: '2026', key }] }))
 *
 */
export function readOnly(codec: Codec): Codec {
  checkCodecs('readOnly', codec)
  return { name: codec.name, encode: () => null, decode: (data, key) => codec.decode(data, key) }
}

/** Checks the codecs and returns them in the order in which they encode. Throws INVALID_OPTION, UNKNOWN_OPTION. */
export function checkCodecs(what: string, given: unknown): Codec[] {
  const codecs = given === undefined ? [] : [given].flat()
  for (const codec of codecs as (Partial<Codec> | null)[]) {
    if (typeof codec !== 'object' || codec === null)
      throw invalidCodec(`${what}: codec must be a codec, such as compress()`)
    if (typeof codec.name !== 'string' || !/^[a-z][a-z0-9-]{0,31}$/.test(codec.name))
      throw invalidCodec(`${what}: the name of a codec must be lower-case letters, digits and hyphens, at most 32`)
    checkFunction(`${what}: encode of codec "${codec.name}"`, codec.encode)
    checkFunction(`${what}: decode of codec "${codec.name}"`, codec.decode)
  }
  const names = (codecs as Codec[]).map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw invalidCodec(`${what}: two codecs are named "${twice}"`)
  return codecs as Codec[]
}

export function invalidCodec(message: string): TriarchError {
  return new TriarchError('INVALID_OPTION', message)
}
