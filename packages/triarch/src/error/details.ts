import type { Json } from '../kernel/json.ts'

/** Levels of the details that are recorded. */
const DEEPEST = 16
/** Items of an array, or properties of an object, that are recorded. */
const WIDEST = 100
/** Characters of the details' JSON, without the marks of omissions. */
const LONGEST = 8192
/** Marks parts that were cut or cannot be read. */
const CUT = '…'

/**
 * The recorded form of a value that an error carries: a JSON copy, cut by depth, by items of a level and by size. It never throws; parts
 * that cannot be read are marked as cut. Undefined: the value has no JSON.
 */
export function detailsOf(value: unknown): Json | undefined {
  return new Excerpt().copy(value, 0)
}

class Excerpt {
  #left = LONGEST

  copy(value: unknown, depth: number): Json | undefined {
    if (typeof value === 'object' && value !== null) return this.#object(value, depth)
    if (typeof value === 'string') return this.#text(value)
    this.#left -= 5
    if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null
    if (typeof value === 'bigint') return this.#text(String(value))
    return typeof value === 'boolean' || value === null ? value : undefined
  }

  #object(value: object, depth: number): Json | undefined {
    this.#left -= 2
    try {
      const { toJSON } = value as { toJSON?: unknown }
      const plain: unknown = typeof toJSON === 'function' ? toJSON.call(value, '') : value
      if (typeof plain !== 'object' || plain === null) return this.copy(plain, depth)
      if (depth === DEEPEST) return CUT
      return Array.isArray(plain) ? this.#array(plain, depth) : this.#record(plain, depth)
    } catch {
      return CUT
    }
  }

  #array(value: readonly unknown[], depth: number): Json[] {
    const copy: Json[] = []
    for (let index = 0; index < value.length; index++) {
      if (index === WIDEST || this.#left <= 0) {
        copy.push(CUT)
        break
      }
      copy.push(this.copy(read(value, index), depth + 1) ?? null)
    }
    return copy
  }

  #record(value: object, depth: number): { [key: string]: Json } {
    const copy: [string, Json][] = []
    for (const key of Object.keys(value)) {
      if (copy.length === WIDEST || this.#left <= 0) {
        copy.push([CUT, CUT])
        break
      }
      const item = this.copy(read(value, key), depth + 1)
      if (item !== undefined) copy.push([this.#text(key), item])
    }
    return Object.fromEntries(copy)
  }

  #text(text: string): string {
    const room = Math.max(0, this.#left)
    let kept = text.slice(0, room)
    // A character takes up to six characters in JSON.
    if (JSON.stringify(kept).length > room + 2) kept = kept.slice(0, room / 6)
    this.#left -= JSON.stringify(kept).length
    return kept.length === text.length ? text : kept.toWellFormed() + CUT
  }
}

function read(object: object, key: string | number): unknown {
  try {
    return (object as Record<string | number, unknown>)[key]
  } catch {
    return CUT
  }
}
