/** The part of all that one caller may hold. */
const PART = 4

/** Bytes that wait in this process for clients to read them: of all of them together, and of each caller. */
export class Held {
  readonly #most: number
  #bytes = 0
  readonly #byCaller = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** What one answer or stream of the caller holds; null: nobody was asked who they are. */
  of(caller: string | null): Holding {
    let held = 0
    return {
      set: (bytes) => {
        const more = bytes - held
        if (more > 0 && !this.#hasRoom(caller, more)) return false
        held = bytes
        this.#bytes += more
        if (caller === null) return true
        const all = (this.#byCaller.get(caller) ?? 0) + more
        if (all > 0) this.#byCaller.set(caller, all)
        else this.#byCaller.delete(caller)
        return true
      },
    }
  }

  #hasRoom(caller: string | null, more: number): boolean {
    if (this.#bytes + more > this.#most) return false
    return caller === null || (this.#byCaller.get(caller) ?? 0) + more <= this.#most / PART
  }
}

export interface Holding {
  /** It holds so many bytes from now on. False: there is no room for more, and it holds what it held. */
  set(bytes: number): boolean
}

/** Bytes that are handed on at a time. */
const SLICE = 64 * 1024

/** The body of an answer, which is held until the client has read it. Null: there is no room. */
export function bodyOf(text: string, holding: Holding): string | ReadableStream<Uint8Array> | null {
  if (text.length <= SLICE) return text
  const bytes = new TextEncoder().encode(text)
  if (!holding.set(bytes.byteLength)) return null
  let at = 0
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        controller.enqueue(bytes.subarray(at, at + SLICE))
        at += SLICE
        if (at < bytes.byteLength) return
        holding.set(0)
        controller.close()
      },
      cancel: () => void holding.set(0),
    },
    { highWaterMark: 0 },
  )
}
