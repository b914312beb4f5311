/** What a client knows, by the ids of tasks: a short text that is the same wherever the same is known. */
export class Digest {
  readonly #parts = new Map<string, number>()

  set(id: string, text: string): void {
    this.#parts.set(id, hashOf(`${id} ${text}`))
  }

  delete(id: string): void {
    this.#parts.delete(id)
  }

  clear(): void {
    this.#parts.clear()
  }

  toString(): string {
    let sum = 0
    for (const part of this.#parts.values()) sum = (sum + part) % RANGE
    return `${this.#parts.size.toString(36)}.${sum.toString(36)}`
  }
}

/** Sums of two of these are exact in a double. */
const RANGE = 2 ** 52

/** Two mixed halves, as in MurmurHash3: what it is for is to differ, not to keep a secret. */
function hashOf(text: string): number {
  let [high, low] = [0x9e3779b1, 0x85ebca77]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 2_654_435_761)
    low = Math.imul(low ^ code, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return (high & 0xfffff) * 2 ** 32 + (low >>> 0)
}
