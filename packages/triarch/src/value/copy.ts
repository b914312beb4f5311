import type { Json } from '../kernel/json.ts'

/** Each side gets its own copy: what the code does to a value must not reach the history. */
export function copy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copy)
  const copied: { [key: string]: Json } = {}
  for (const key of Object.keys(value)) {
    // Defined, not assigned: a key named __proto__ stays a key.
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
