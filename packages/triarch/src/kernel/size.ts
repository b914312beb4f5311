/**
 * The approximate length of the value's JSON, in characters. No JSON is built, so that it can be called for everything that is written. It
 * does not recurse, so that deep values do not exhaust the call stack.
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
