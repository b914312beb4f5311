import { TriarchError } from '../error/error.ts'

type NameOf<T> = T extends object ? keyof T & string : never

/** A list of names that has each option of T, and no other: what else is given does not compile, for it says what is wrong. */
type Names<T, A extends readonly string[]> = [Exclude<NameOf<T>, A[number]>, Exclude<A[number], NameOf<T>>] extends [
  never,
  never,
]
  ? A
  : { missing: Exclude<NameOf<T>, A[number]>; unknown: Exclude<A[number], NameOf<T>> }

/**
 * Refuses options that do not exist, with the nearest name that does; undefined is no options. `allowed`: the names of all
 * that T has. Throws UNKNOWN_OPTION, INVALID_OPTION.
 */
export function checkOptions<T extends object, const A extends readonly string[]>(
  what: string,
  given: T | null | undefined,
  allowed: A & Names<T, A>,
): void {
  if (given === undefined) return
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TriarchError('INVALID_OPTION', `${what}: the options must be an object`)
  }
  for (const key of namesIn(what, given)) {
    if (allowed.includes(key)) continue
    const nearest = nearestOf(key, allowed)
    const hint = nearest === undefined ? `known options: ${allowed.join(', ')}` : `did you mean "${nearest}"?`
    throw new TriarchError('UNKNOWN_OPTION', `${what}: unknown option "${key.slice(0, 100)}", ${hint}`, {
      details: { option: key.slice(0, 100), ...(nearest !== undefined && { nearest }) },
    })
  }
}

function namesIn(what: string, given: object): string[] {
  try {
    return Object.keys(given)
  } catch (cause) {
    throw new TriarchError('INVALID_OPTION', `${what}: the options cannot be read`, { cause })
  }
}

/** What the object has, by its names. Throws INVALID_OPTION: it cannot be read. */
export function entriesOf(what: string, given: object): [string, unknown][] {
  try {
    return Object.entries(given)
  } catch (cause) {
    throw new TriarchError('INVALID_OPTION', `${what} cannot be read`, { cause })
  }
}

/** Of records, steps, attempts and versions: every store has room for no higher one. */
export const HIGHEST_NUMBER = 2_147_483_647

/** The whole number itself, when it lies in [min, max]. Throws INVALID_OPTION. */
export function checkInteger(what: string, value: unknown, min: number, max: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  throw new TriarchError('INVALID_OPTION', `${what} must be a whole number from ${min} to ${max}`)
}

/** The function itself. Throws INVALID_OPTION. */
export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw new TriarchError('INVALID_OPTION', `${what} must be a function`)
}

/** The nearest of these names, if one is near. */
export function nearestOf(key: string, allowed: readonly string[]): string | undefined {
  if (key.length > 50) return undefined
  let best: string | undefined
  let least = Math.max(2, Math.floor(key.length / 3)) + 1
  for (const name of allowed) {
    const changes = distance(key.toLowerCase(), name.toLowerCase())
    if (changes < least) [best, least] = [name, changes]
  }
  return best
}

/** Levenshtein distance: https://en.wikipedia.org/wiki/Levenshtein_distance */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
