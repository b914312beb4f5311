import type { Json } from './json.ts'

/** What stands in the place of a secret in everything that is shown. */
export const HIDDEN = '•••'

/** Values shorter than this are hidden at their paths only: as parts of other texts they mean nothing. */
const SHORTEST = 4

/** Where secrets are in a payload: paths of keys, `*` for any. */
export type SecretPaths = readonly string[]

/** A copy without what is at these paths. */
export function hideAt(value: Json, paths: SecretPaths): Json {
  return paths.reduce((shown, path) => change(shown, path.split('.'), () => HIDDEN), value)
}

/** The texts and numbers at these paths, however deep. */
export function secretsAt(value: Json | undefined, paths: SecretPaths, found: Set<string> = new Set()): Set<string> {
  if (value === undefined) return found
  for (const path of paths) {
    change(value, path.split('.'), (secret) => {
      leaves(secret, found)
      return secret
    })
  }
  return found
}

/** A copy in which none of these texts stands, whatever they are part of. */
export function scrub<T>(value: T, secrets: ReadonlySet<string>): T {
  return secrets.size === 0 ? value : (clean(value as Json, matcherOf(secrets)) as T)
}

/** Finds secrets in one pass over a text, however many they are: by their first characters, then by their lengths. */
interface Matcher {
  readonly all: ReadonlySet<string>
  /** The texts that begin so, and their lengths, the longest first: one may be part of another. */
  readonly starts: ReadonlyMap<number, { lengths: number[]; texts: Set<string> }>
}

/** Texts are found for many values: the matcher stays with its set, which only grows. */
const matchers = new WeakMap<ReadonlySet<string>, { size: number; matcher: Matcher }>()

function matcherOf(secrets: ReadonlySet<string>): Matcher {
  const known = matchers.get(secrets)
  if (known?.size === secrets.size) return known.matcher
  const starts = new Map<number, { lengths: number[]; texts: Set<string> }>()
  for (const text of secrets) {
    const start = startAt(text, 0)
    const same = starts.get(start) ?? { lengths: [], texts: new Set<string>() }
    starts.set(start, same)
    same.texts.add(text)
    if (!same.lengths.includes(text.length)) same.lengths.push(text.length)
  }
  for (const { lengths } of starts.values()) lengths.sort((a, b) => b - a)
  const matcher = { all: secrets, starts }
  matchers.set(secrets, { size: secrets.size, matcher })
  return matcher
}

/** A number for the four characters from here on. */
function startAt(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 24) ^ (text.charCodeAt(at + 1) << 16)
  return first ^ (text.charCodeAt(at + 2) << 8) ^ text.charCodeAt(at + 3)
}

function hide(text: string, { starts }: Matcher): string {
  let shown = ''
  let from = 0
  for (let at = 0; at + SHORTEST <= text.length; ) {
    const start = starts.get(startAt(text, at))
    const length = start?.lengths.find((it) => start.texts.has(text.slice(at, at + it)))
    if (length === undefined) {
      at++
      continue
    }
    shown += text.slice(from, at) + HIDDEN
    at += length
    from = at
  }
  return from === 0 ? text : shown + text.slice(from)
}

function change(value: Json, [key, ...rest]: string[], to: (found: Json) => Json): Json {
  if (key === undefined) return to(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return value.map((item, index) => (key === '*' || key === String(index) ? change(item, rest, to) : item))
  }
  const changed = Object.entries(value).map(([name, item]) => {
    return [name, key === '*' || key === name ? change(item, rest, to) : item] as const
  })
  return Object.fromEntries(changed)
}

function leaves(value: Json, found: Set<string>): void {
  if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) leaves(item, found)
  else if (typeof value === 'string' && value.length >= SHORTEST) found.add(value)
  else if (typeof value === 'number' && String(value).length >= SHORTEST) found.add(String(value))
}

function clean(value: Json, matcher: Matcher): Json {
  if (typeof value === 'string') return hide(value, matcher)
  if (typeof value === 'number') return matcher.all.has(String(value)) ? HIDDEN : value
  // Views have instants beside what is JSON.
  if (typeof value !== 'object' || value === null || (value as unknown) instanceof Date) return value
  if (Array.isArray(value)) return value.map((item) => clean(item, matcher))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item, matcher)]))
}
