import type { Hint } from 'triarch/store'

/** The first character of each word of a notification; some are followed by a name. */
const SIGNS = {
  /** The node has messages. */
  mail: '@',
  /** The node may claim tasks. */
  tasks: '=',
  /** The node may take requests. */
  work: '+',
  /** The node has left. */
  left: '-',
  /** A node came. */
  came: '!',
  /** A setting was changed. */
  settings: '%',
  /** A cooldown began. */
  rests: '~',
  /** A process waits for tasks to end, and listens on this channel. */
  waits: '?',
  /** The task ended. */
  ended: '.',
} as const
type What = keyof typeof SIGNS
const whats = new Map(Object.entries(SIGNS).map(([what, sign]): [string, What] => [sign, what as What]))

/** A word of its own: anything may have changed. */
export const ANYTHING = '*'
export const ALL_HINTS: readonly Hint[] = ['work', 'tasks', 'mail', 'settings', 'rests']

export function wordOf(what: What, of: string | number = ''): string {
  return `${SIGNS[what]}${what === 'ended' ? encodeURIComponent(of) : of}`
}

/** Parses a word; `what` is null if it is not valid. */
export function heardOf(word: string): [what: What | null, of: string] {
  const [what, of] = [whats.get(word.charAt(0)) ?? null, word.slice(1)]
  try {
    return [what, what === 'ended' ? decodeURIComponent(of) : of]
  } catch {
    return [null, of]
  }
}

/** Most bytes of one notification; the server allows fewer than 8,000. */
const MOST_BYTES = 7_900

/** A word and its channel: a process's own, or the schema's (null). */
export interface Address {
  own: string | null
  word: string
}

/** Words by channel; null: the schema's. */
export type Words = Map<string | null, Set<string>>

export function say(words: Words, { own, word }: Address): void {
  const there = words.get(own)
  if (there) there.add(word)
  else words.set(own, new Set([word]))
}

/** Joins words to payloads. A word that is too long for one is left out; the leader's sweep makes up for it. */
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
