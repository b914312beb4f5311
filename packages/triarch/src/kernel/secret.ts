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
  if (secrets.size === 0) return value
  // The longest first: one may be part of another.
  const texts = [...secrets].sort((a, b) => b.length - a.length)
  return clean(value as Json, texts) as T
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

function clean(value: Json, texts: readonly string[]): Json {
  if (typeof value === 'string') return texts.reduce((text, secret) => text.replaceAll(secret, HIDDEN), value)
  if (typeof value === 'number') return texts.includes(String(value)) ? HIDDEN : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => clean(item, texts))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item, texts)]))
}
