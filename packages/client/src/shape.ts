// What answers are made of. What they are not is told by a TypeError, of which the exchange makes SERVER_ANSWER_INVALID.

type Members = Readonly<Record<string, unknown>>

export function object(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('no object')
  return value as Members
}

export function array<T>(value: unknown, each: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw new TypeError('no array')
  return value.map(each)
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no string')
  return value
}

export function date(value: unknown): Date {
  const at = new Date(text(value))
  if (Number.isNaN(at.getTime())) throw new TypeError('no instant')
  return at
}

/** The object with Dates in these of its members that are there. */
export function dated(value: unknown, ...names: readonly string[]): Members {
  const members = object(value)
  const dates = names.filter((name) => members[name] !== undefined).map((name) => [name, date(members[name])] as const)
  return { ...members, ...Object.fromEntries(dates) }
}
