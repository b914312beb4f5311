import type { Hint } from 'triarch/store'

/** What a word says, by the sign that it begins with; behind some of them stands of whom. */
const SIGNS = {
  /** This node has mail. */
  mail: '@',
  /** It may claim tasks. */
  tasks: '=',
  /** It may take work. */
  work: '+',
  /** It has left. */
  left: '-',
  /** A node came. */
  came: '!',
  /** A setting was changed. */
  settings: '%',
  /** A service rests. */
  rests: '~',
  /** A process waits for tasks to end, which listens on this channel of its own. */
  waits: '?',
  /** This task did. */
  ended: '.',
} as const
type What = keyof typeof SIGNS
const whats = new Map(Object.entries(SIGNS).map(([what, sign]): [string, What] => [sign, what as What]))

/** The word that has no sign: there may be anything for anybody. */
export const ANYTHING = '*'
export const ALL_HINTS: readonly Hint[] = ['work', 'tasks', 'mail', 'settings', 'rests']

export function wordOf(what: What, of: string | number = ''): string {
  return `${SIGNS[what]}${what === 'ended' ? encodeURIComponent(of) : of}`
}

/** Null: it says nothing that is known here, or is rubbish that somebody else said. */
export function heardOf(word: string): [what: What | null, of: string] {
  const [what, of] = [whats.get(word.charAt(0)) ?? null, word.slice(1)]
  try {
    return [what, what === 'ended' ? decodeURIComponent(of) : of]
  } catch {
    return [null, of]
  }
}

/** Bytes of one notification; the server allows 8,000. */
const MOST_BYTES = 7_900

/** A word, and on which channel it is said: somebody's own, or that of all. */
export interface Address {
  own: string | null
  word: string
}

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
