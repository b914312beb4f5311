/**
 * About how long the JSON of what is made of JSON is, in characters: nothing is made for it, so it may be asked of all that is written.
 * It does not recurse: however deep a value is, the call stack is not.
 */
export function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return sizeOfLeaf(value)
  const rest: object[] = [value]
  let size = 0
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    size += 2
    if (Array.isArray(next)) {
      for (const item of next) {
        if (typeof item === 'object' && item !== null) rest.push(item)
        else size += sizeOfLeaf(item)
        size += 1
      }
    } else {
      for (const [key, item] of Object.entries(next)) {
        if (typeof item === 'object' && item !== null) rest.push(item)
        else size += sizeOfLeaf(item)
        size += key.length + 4
      }
    }
  }
  return size
}

function sizeOfLeaf(value: unknown): number {
  return typeof value === 'string' ? value.length + 2 : 5
}
