import type { Json } from './json.ts'
import { BASE64, bytesOf, CHANGED, CHARACTERS_OF_A_BYTE, decoded, places, QUOTED, unquote } from './quoting.ts'

/** Replaces a secret in everything that is shown. */
export const HIDDEN = '•••'

/** Shorter values are hidden at their paths only; as parts of other texts they would hide too much. */
const SHORTEST = 4

/** Where secrets are in a payload: paths of keys, `*` for any. */
export type SecretPaths = readonly string[]

/** A copy with the values at these paths hidden; the value itself if there are none. */
export function hideAt(value: Json, paths: SecretPaths): Json {
  return paths.reduce((shown, path) => change(shown, path.split('.'), () => HIDDEN), value)
}

/** The texts and numbers at these paths, at any depth. */
export function secretsAt(
  value: Json | undefined,
  paths: SecretPaths,
  found: SecretTexts = new SecretTexts(),
): SecretTexts {
  if (value === undefined) return found
  for (const path of paths) {
    change(value, path.split('.'), (secret) => {
      leaves(secret, found)
      return secret
    })
  }
  return found
}

/** A set of texts that must not be shown. They are found plain, quoted, percent-encoded or in Base64, in any other text. */
export class SecretTexts {
  readonly #all = new Set<string>()
  /** How many of the added texts the matchers contain; they are built on first use, because most sets are never searched. */
  #known = 0
  readonly #plain = new Matcher()
  readonly #unquoted = new Matcher()

  constructor(texts: Iterable<string> = []) {
    for (const text of texts) this.add(text)
  }

  get size(): number {
    return this.#all.size
  }

  /** Adds a text; one that is too short is ignored. */
  add(text: string): void {
    if (text.length >= SHORTEST) this.#all.add(text)
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#all.values()
  }

  /** A copy with every occurrence of the texts hidden; the value itself if there is none. */
  scrub<T>(value: T): T {
    return this.size === 0 ? value : (this.#clean(value as Json) as T)
  }

  /** The texts of the set that occur in the value. */
  within(value: unknown): string[] {
    if (this.size === 0) return []
    const found = new Set<string>()
    this.#learn()
    const look = (text: string): void => {
      for (const { of } of this.#matches(text, true)) found.add(of)
    }
    eachText(value as Json, look)
    return [...found]
  }

  #learn(): void {
    if (this.#known === this.#all.size) return
    let index = 0
    for (const text of this.#all) {
      if (index++ < this.#known) continue
      // The surrounding blanks may be missing where the secret occurs.
      for (const form of new Set([text, text.trim()])) {
        this.#plain.add(form, text)
        this.#unquoted.add(CHANGED.test(form) ? unquote({ text: form, at: null }).text : form, text)
      }
    }
    this.#known = this.#all.size
  }

  #matches(text: string, all: boolean): Match[] {
    const isCut = text.endsWith(CUT)
    const matches = this.#plain.find(text, all)
    if (isCut) matches.push(...this.#plain.begun(text, text.length - CUT.length))
    if (QUOTED.test(text)) {
      const { text: plain, at } = unquote({ text, at: places(text.length, 1) })
      const quoted = this.#unquoted.find(plain, all)
      // CUT is longer in UTF-8.
      if (isCut) quoted.push(...this.#unquoted.begun(plain, plain.length - bytesOf(CUT).length))
      for (const { from, to, of } of quoted) matches.push({ from: at?.[from] ?? 0, to: at?.[to] ?? text.length, of })
    }
    for (const part of text.matchAll(BASE64)) {
      const { text: plain, at } = unquote(decoded(part[0], part.index), true)
      for (const { from, to, of } of this.#unquoted.find(plain, all))
        matches.push({ from: at?.[from] ?? 0, to: (at?.[to - 1] ?? text.length) + CHARACTERS_OF_A_BYTE, of })
    }
    return matches.sort((a, b) => a.from - b.from)
  }

  #hide(text: string): string {
    if (text.length < SHORTEST) return text
    this.#learn()
    let shown = ''
    let end = 0
    for (const match of this.#matches(text, false)) {
      // A match that begins within the previous one extends it.
      if (match.from >= end) shown += text.slice(end, match.from) + HIDDEN
      end = Math.max(end, match.to)
    }
    return end === 0 ? text : shown + text.slice(end)
  }

  #clean(value: Json): Json {
    if (typeof value === 'string') return this.#hide(value)
    if (typeof value === 'number') return this.#all.has(String(value)) ? HIDDEN : value
    // Views contain Date values beside JSON.
    if (typeof value !== 'object' || value === null || (value as unknown) instanceof Date) return value
    if (Array.isArray(value)) return mapped(value, (item) => this.#clean(item))
    return renamed(value, (key) => this.#hide(key), (item) => this.#clean(item)) // biome-ignore format: one line
  }
}

/** An occurrence of a secret text, from `from` to before `to`. */
interface Match {
  from: number
  to: number
  of: string
}

/** Finds any number of texts in one pass over another, by their first characters and then by their lengths. */
class Matcher {
  /**
   * By the first characters: the lengths of the texts, longest first because one may be part of another, and the secret that each stands
   * for.
   */
  readonly #starts = new Map<number, { lengths: number[]; texts: Map<string, string> }>()

  #longest = 0

  add(text: string, of: string): void {
    if (text.length < SHORTEST) return
    this.#longest = Math.max(this.#longest, text.length)
    const start = startAt(text, 0)
    const same = this.#starts.get(start) ?? { lengths: [], texts: new Map<string, string>() }
    this.#starts.set(start, same)
    if (!same.texts.has(text)) same.texts.set(text, of)
    if (same.lengths.includes(text.length)) return
    same.lengths.push(text.length)
    same.lengths.sort((a, b) => b - a)
  }

  /** Matches that begin before `end` and reach it: the rest of the secret was cut off with the text. */
  begun(text: string, end: number): Match[] {
    for (let at = Math.max(0, end - this.#longest); at + SHORTEST <= end; at++) {
      const rest = text.slice(at, end)
      for (const [form, of] of this.#starts.get(startAt(text, at))?.texts ?? [])
        if (form.startsWith(rest)) return [{ from: at, to: end, of }]
    }
    return []
  }

  /** The longest match at each place, without matches inside another; `all`: every match. */
  find(text: string, all: boolean): Match[] {
    const found: Match[] = []
    for (let at = 0; at + SHORTEST <= text.length; ) {
      const start = this.#starts.get(startAt(text, at))
      let longest = 1
      if (start) {
        for (const length of start.lengths) {
          const of = start.texts.get(text.slice(at, at + length))
          if (of === undefined) continue
          found.push({ from: at, to: at + length, of })
          if (all) continue
          longest = length
          break
        }
      }
      at += longest
    }
    return found
  }
}

/** A number computed from the four characters at `at`. */
function startAt(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 24) ^ (text.charCodeAt(at + 1) << 16)
  return first ^ (text.charCodeAt(at + 2) << 8) ^ text.charCodeAt(at + 3)
}

/** Ends a text that was cut because of its length. */
const CUT = '…'
function change(value: Json, [key, ...rest]: string[], to: (found: Json) => Json): Json {
  if (key === undefined) return to(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return mapped(value, (item, index) => (key === '*' || key === String(index) ? change(item, rest, to) : item))
  }
  return renamed(value, (name) => name, (item, name) => (key === '*' || key === name ? change(item, rest, to) : item)) // biome-ignore format: one line
}

/** Maps a list; returns the list itself if no item changes. */
function mapped(list: Json[], to: (item: Json, index: number) => Json): Json[] {
  const changed = list.map(to)
  return changed.every((item, index) => item === list[index]) ? list : changed
}

/** Maps keys and values; returns the object itself if nothing changes. Keys that become equal are numbered from the second on. */
function renamed(
  value: { [key: string]: Json },
  name: (key: string) => string,
  to: (item: Json, key: string) => Json,
): { [key: string]: Json } {
  const changed = new Map<string, Json>()
  let same = true
  for (const [key, item] of Object.entries(value)) {
    const shown = name(key)
    const now = to(item, key)
    same &&= shown === key && now === item
    let free = shown
    for (let n = 2; changed.has(free) || (shown !== key && Object.hasOwn(value, free)); n++) free = `${shown} ${n}`
    changed.set(free, now)
  }
  return same ? value : Object.fromEntries(changed)
}

function leaves(value: Json, found: SecretTexts): void {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) leaves(item, found)
  else if (typeof value === 'string') found.add(value)
  else if (typeof value === 'number') found.add(String(value))
}

/** Calls back with each text, key and number in a value. */
function eachText(value: Json, tell: (text: string) => void): void {
  if (typeof value === 'string') return tell(value)
  if (typeof value === 'number') return tell(String(value))
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    if (!Array.isArray(value)) tell(key)
    eachText(item, tell)
  }
}
