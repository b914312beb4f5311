import { TriarchError } from '../error/error.ts'

type NameOf<T> = T extends object ? keyof T & string : never

/** The type of a list that names each option of T and nothing else; other lists do not compile, and the type tells what is wrong. */
type Names<T, A extends readonly string[]> = [Exclude<NameOf<T>, A[number]>, Exclude<A[number], NameOf<T>>] extends [
  never,
  never,
]
  ? A
  : { missing: Exclude<NameOf<T>, A[number]>; unknown: Exclude<A[number], NameOf<T>> }

/**
 * Refuses unknown options, suggesting the nearest known name; undefined means no options. `allowed`: the names of all options of T. Throws
 * UNKNOWN_OPTION, INVALID_OPTION.
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

/** The entries of an object. Throws INVALID_OPTION if they cannot be read. */
export function entriesOf(what: string, given: object): [string, unknown][] {
  try {
    return Object.entries(given)
  } catch (cause) {
    throw new TriarchError('INVALID_OPTION', `${what} cannot be read`, { cause })
  }
}

/** Largest number of a record, step, attempt or version that every store can hold. */
export const HIGHEST_NUMBER = 2_147_483_647

/** Returns the number if it is an integer in [min, max]. Throws INVALID_OPTION. */
export function checkInteger(what: string, value: unknown, min: number, max: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number
  throw new TriarchError('INVALID_OPTION', `${what} must be a whole number from ${min} to ${max}`)
}

/** Returns if the value is a function. Throws INVALID_OPTION. */
export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw new TriarchError('INVALID_OPTION', `${what} must be a function`)
}

/** The nearest of these names, if one is similar enough. */
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
