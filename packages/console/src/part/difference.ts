/** What is other in one value than in another, by the path of a property. */
export interface Difference {
  path: string
  /** Undefined: it was not there. */
  before: unknown
  /** Undefined: it is not there any more. */
  after: unknown
}

/** Properties of objects are told apart; lists and all else are the same or another. In the order of their names. */
export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return names.flatMap((name) => differences(before[name], after[name], path === '' ? name : `${path}.${name}`))
  }
  return isSame(before, after) ? [] : [{ path, before, after }]
}

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((it, index) => isSame(it, other[index]))
  if (isObject(one) && isObject(other)) return differences(one, other).length === 0
  return Object.is(one, other)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
