/** What kind of error it is: its code, or the name of its class. Of whatever was thrown. */
export function errorType(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  const found = [code, name].find((it) => typeof it === 'string' && it !== '')
  return typeof found === 'string' ? found.slice(0, 100) : 'Error'
}
