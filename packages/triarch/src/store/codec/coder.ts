import { isTriarchError, TriarchError } from '../../error/error.ts'
import type { Codec, Encoded } from './codec.ts'
import { decompressors } from './compress.ts'

/** An encoded value: the codecs that were applied, in order (`zstd encrypt:2026`), and the bytes as base64. */
export interface Sealed {
  [MARK]: string
  data: string
}

/** The first key of an object that contains an encoded value: no payload may begin with it. */
const MARK = '~coded'
const BEGINNING = `{"${MARK}":"`
/** Prefix of an encoded text that could not be decoded: the result is not JSON, so no reader takes it for the value. */
const SPARED = '!'

export function isCoded(text: string): boolean {
  return text.startsWith(BEGINNING)
}

export function isSealed(value: unknown): value is Sealed {
  return typeof value === 'object' && value !== null && MARK in value
}

/** Marks a text that could not be decoded; when it is written again, it is stored unchanged. */
export function spared(text: string): string {
  return SPARED + text
}

/** Encodes and decodes the JSON texts of payloads. */
export class Coder {
  /** The codecs, in the order in which they encode. */
  readonly #codecs: readonly Codec[]
  readonly #byName: ReadonlyMap<string, Codec>

  constructor(codecs: readonly Codec[]) {
    this.#codecs = codecs
    this.#byName = new Map([...decompressors, ...codecs].map((codec) => [codec.name, codec]))
  }

  /** Encodes a text. Throws STORE_FAILED if a codec fails: the value must not be stored unencoded then. */
  encode(text: string): string {
    if (text.startsWith(SPARED)) return text.slice(SPARED.length)
    const sealed = this.seal(text)
    return sealed === null ? text : JSON.stringify(sealed)
  }

  /** Decodes a text. Throws CODEC_*. */
  decode(text: string): string {
    let sealed: unknown
    try {
      sealed = JSON.parse(text)
    } catch (cause) {
      throw harmed(cause)
    }
    return this.open(sealed)
  }

  /** Encodes a text; returns null if no codec changes it. Throws STORE_FAILED. */
  seal(text: string): Sealed | null {
    let data: Uint8Array = Buffer.from(text)
    const done: string[] = []
    for (const codec of this.#codecs) {
      try {
        const encoded = codec.encode(data)
        if (encoded === null) continue
        data = bytesOf(encoded)
        done.push(encoded.key === undefined ? codec.name : `${codec.name}:${encoded.key}`)
      } catch (cause) {
        throw new TriarchError('STORE_FAILED', `codec "${codec.name}" cannot encode a value`, { cause })
      }
    }
    // A text that only looks encoded is wrapped as well, so that it is not decoded when it is read.
    if (done.length === 0 && !text.includes(`"${MARK}"`)) return null
    return { [MARK]: done.join(' '), data: bufferOf(data).toString('base64') }
  }

  /** Decodes a value. Throws CODEC_MISSING, CODEC_KEY_MISSING, CODEC_FAILED. */
  open(sealed: unknown): string {
    const { [MARK]: done, data: text } = (sealed ?? {}) as Partial<Sealed>
    if (typeof done !== 'string' || typeof text !== 'string') throw harmed()
    let data: Uint8Array = Buffer.from(text, 'base64')
    for (const step of done.split(' ').reverse()) {
      if (step === '') continue
      const [name = '', key] = parted(step)
      const codec = this.#byName.get(name)
      if (!codec) {
        const message = `it was encoded by codec "${name}", which this process does not have`
        throw new TriarchError('CODEC_MISSING', message, { details: { codec: name } })
      }
      try {
        data = codec.decode(data, key)
      } catch (cause) {
        if (isTriarchError(cause)) throw cause
        const why = `codec "${name}" cannot decode it: ${(cause as Error)?.message ?? cause}`
        throw new TriarchError('CODEC_FAILED', why, { cause, details: { codec: name } })
      }
    }
    return bufferOf(data).toString('utf8')
  }
}

/** Checks the result of `encode`: a user's codec may return anything, such as a promise. */
function bytesOf({ data, key }: Encoded): Uint8Array {
  if (!(data instanceof Uint8Array)) throw new TypeError('encode gives null, or an object with bytes as its data')
  if (key !== undefined && !/^[^\s:]{1,200}$/.test(key)) throw new TypeError('a key is a short text without spaces')
  return data
}

function parted(step: string): [string, string | undefined] {
  const at = step.indexOf(':')
  return at < 0 ? [step, undefined] : [step.slice(0, at), step.slice(at + 1)]
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function harmed(cause?: unknown): TriarchError {
  return new TriarchError('CODEC_FAILED', 'it is marked as encoded, but no codec wrote it', { cause })
}
