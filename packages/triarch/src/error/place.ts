/**
 * The location of the engine's own code, from the stack of this line; null in a bundle, where it cannot be distinguished from user code.
 */
const OWN = fileUrl(/((?:file:\/\/)?\/\S*\/)error\/place\.[jt]s:/.exec(new Error('here').stack ?? '')?.[1] ?? null)

/** The first location in the stack outside the engine, as file:line:column; null: none is known. */
export function placeOf(error: unknown): string | null {
  const stack = error instanceof Error ? error.stack : undefined
  if (typeof stack !== 'string') return null
  for (const line of stack.split('\n')) {
    const [, place] =
      /^\s+at (?:.*\()?(file:.*?:\d+:\d+)\)?$/.exec(line) ?? /^\s+at (?:.*\()?(\/.*?:\d+:\d+)\)?$/.exec(line) ?? []
    if (place === undefined) continue
    const file = fileUrl(place)
    const isOwn = OWN !== null && file.startsWith(OWN)
    if (!isOwn && !file.includes('/node_modules/')) return place.replace(/^file:\/\//, '')
  }
  return null
}

function fileUrl<T extends string | null>(place: T): T {
  return (place === null || place.startsWith('file:') ? place : `file://${place}`) as T
}
