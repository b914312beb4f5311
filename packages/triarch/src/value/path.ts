const identifier = /^[A-Za-z_$][\w$]*$/

/** A path as a reader would write it: `input.items[3].price`, `input["a b"]`. */
export function formatPath(root: string, keys: Iterable<PropertyKey>): string {
  let path = root
  for (const key of keys) {
    if (typeof key === 'number') path += `[${key}]`
    else if (typeof key === 'symbol') path += `[${String(key)}]`
    else if (identifier.test(key)) path += path === '' ? key : `.${key}`
    else path += `[${JSON.stringify(key.length > 80 ? `${key.slice(0, 79)}…` : key)}]`
  }
  return path
}
