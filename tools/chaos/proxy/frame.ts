// The messages of PostgreSQL's protocol, cut out of a stream: a type byte (except at the very start), a length, a body.

export interface Frame {
  /** Empty for a client's first messages, which have no type. */
  type: string
  /** All of it, with type and length. */
  bytes: Buffer
  body: Buffer
}

/** Longest message let through (bytes): far more than any payload limit allows, and a bound on what is held. */
const LONGEST = 64 * 1024 * 1024

const SSL_REQUEST = 80877103
const GSS_REQUEST = 80877104
const CANCEL_REQUEST = 80877102

export type Opening = 'encryption' | 'cancel' | 'startup'

/** What a message without a type asks for. */
export function openingOf({ body }: Frame): Opening {
  const code = body.readInt32BE(0)
  if (code === SSL_REQUEST || code === GSS_REQUEST) return 'encryption'
  return code === CANCEL_REQUEST ? 'cancel' : 'startup'
}

/** Cuts one direction of one connection into frames, however it comes in chunks. */
export class Framer {
  /** The next message has no type byte. */
  untyped: boolean
  #rest: Buffer = Buffer.alloc(0)

  constructor({ untyped }: { untyped: boolean }) {
    this.untyped = untyped
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
  }

  /** The next whole message; null: it is not all there yet. */
  next(): Frame | null {
    const head = this.untyped ? 4 : 5
    if (this.#rest.length < head) return null
    const length = this.#rest.readInt32BE(head - 4)
    if (length < 4 || length > LONGEST) throw new Error(`a message of ${length} bytes is none of PostgreSQL's`)
    const end = head - 4 + length
    if (this.#rest.length < end) return null
    const bytes = this.#rest.subarray(0, end)
    this.#rest = this.#rest.subarray(end)
    return { type: this.untyped ? '' : String.fromCharCode(bytes[0] ?? 0), bytes, body: bytes.subarray(head) }
  }
}

/** The zero-terminated texts a body begins with. */
export function textsOf(body: Buffer, count: number): string[] {
  const texts: string[] = []
  for (let at = 0; texts.length < count; ) {
    const end = body.indexOf(0, at)
    texts.push(body.toString('utf8', at, end < 0 ? body.length : end))
    at = end < 0 ? body.length : end + 1
  }
  return texts
}
