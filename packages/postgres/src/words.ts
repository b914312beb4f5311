import type { Address } from './audience.ts'

/** Bytes of one notification; the server allows 8,000. */
const MOST_BYTES = 7_900

/** By the process's own channel; null: on that of all. */
export type Words = Map<string | null, Set<string>>

export function say(words: Words, { own, word }: Address): void {
  const there = words.get(own)
  if (there) there.add(word)
  else words.set(own, new Set([word]))
}

/** One that is too long for any is left out: its hint is lost. */
export function payloads(words: Iterable<string>): string[] {
  const all: string[] = []
  let [current, bytes] = [[] as string[], 0]
  for (const word of words) {
    const size = Buffer.byteLength(word) + 1
    if (size > MOST_BYTES) continue
    if (bytes + size > MOST_BYTES) {
      all.push(current.join(' '))
      current = []
      bytes = 0
    }
    current.push(word)
    bytes += size
  }
  if (current.length > 0) all.push(current.join(' '))
  return all
}

/** Nothing, where it is rubbish that somebody else said. */
export function decoded(id: string): string[] {
  try {
    return [decodeURIComponent(id)]
  } catch {
    return []
  }
}
