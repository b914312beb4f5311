import { type Duration, milliseconds } from '../value/duration.ts'

const units: readonly (readonly [string, number])[] = [
  ['w', 7 * 86_400_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
]
const DAY = 86_400_000
/** From the year 0 to the year 9999, the range that the text format can express. */
export const INSTANTS: readonly [number, number] = [-62_167_219_200_000, 253_402_300_799_999]

/** The duration in ms; null: it is not a duration of at most ten years. */
export function durationOf(word: string): number | null {
  try {
    return milliseconds(word as Duration, '')
  } catch {
    return null
  }
}

/** The duration in the largest unit in which it is an integer. */
export function durationText(ms: number): string {
  const [unit, size] = units.find(([, size]) => ms % size === 0 && ms >= size) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

const pattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** The first and the last millisecond of the day (UTC), minute, second or millisecond that the word denotes; null: it denotes none. */
export function instantOf(word: string): readonly [number, number] | null {
  const match = pattern.exec(word)
  if (!match) return null
  const [, seconds, fraction] = match
  const from = Date.parse(word)
  // Date.parse accepts the 31st of any month as a day of the next one.
  if (Number.isNaN(from) || !isDay(word.slice(0, 10)) || from < INSTANTS[0] || from > INSTANTS[1]) return null
  const length = word.length === 10 ? DAY : seconds === undefined ? 60_000 : fraction === undefined ? 1_000 : 1
  return [from, Math.min(from + length - 1, INSTANTS[1])]
}

function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** The text of an instant: a day, if the instant is an edge of one. */
export function instantText(at: number, edge: 'from' | 'to'): string {
  const text = new Date(at).toISOString()
  const isEdge = edge === 'from' ? at % DAY === 0 : (at + 1) % DAY === 0
  return isEdge ? text.slice(0, 10) : text
}
