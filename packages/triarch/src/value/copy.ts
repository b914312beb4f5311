import type { Json } from '../kernel/json.ts'

/** A copy of a value, so that changes made by user code do not reach the history. */
export function copy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const copied: { [key: string]: Json } = {}
  for (const key of Object.keys(value)) {
    // `__proto__` is defined instead of assigned, so that it stays an ordinary key.
    if (key === '__proto__')
      Object.defineProperty(copied, key, {
        value: copy(value[key] as Json),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    else copied[key] = copy(value[key] as Json)
  }
  return copied
}
