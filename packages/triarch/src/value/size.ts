/** About how long the JSON of what is made of JSON is, in characters: nothing is made for it, so it may be asked of all that is written. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  let size = 2
  if (Array.isArray(value)) for (const item of value) size += sizeOf(item) + 1
  else for (const [key, item] of Object.entries(value)) size += key.length + 4 + sizeOf(item)
  return size
}
