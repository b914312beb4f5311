/** Where the engine's own code is; in a bundle it cannot be told from a user's. */
const OWN = new URL('../', import.meta.url).href

/** The first place of the stack that is not the engine's, as file:line:column; null: none is known. */
export function placeOf(error: unknown): string | null {
  const stack = error instanceof Error ? error.stack : undefined
  if (typeof stack !== 'string') return null
  for (const line of stack.split('\n')) {
    const [, place] =
      /^\s+at (?:.*\()?(file:.*?:\d+:\d+)\)?$/.exec(line) ?? /^\s+at (?:.*\()?(\/.*?:\d+:\d+)\)?$/.exec(line) ?? []
    if (place === undefined) continue
    const file = place.startsWith('file:') ? place : `file://${place}`
    if (!file.startsWith(OWN) && !file.includes('/node_modules/')) return place.replace(/^file:\/\//, '')
  }
  return null
}
