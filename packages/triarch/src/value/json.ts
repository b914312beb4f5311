/**
 * Bounds of a JSON text.
 * @example const bounds: JsonBounds = { depth: 256, items: 10_000 }
 */
export interface JsonBounds {
  /** Levels of nested arrays and objects. */
  depth: number
  /** Items of one array, or properties of one object. */
  items: number
}

/**
 * The value of a text, or why it is refused: it is not JSON, exceeds the bounds (`excess`), or has a number that would be rounded
 * (`inexact`).
 * @example const text = (it: ReadJson): string => ('problem' in it ? it.message : JSON.stringify(it.value))
 */
export type ReadJson = { value: unknown } | { problem: 'syntax' | 'excess' | 'inexact'; message: string }

/** Default bounds; payloads are nested less deeply, and their envelopes add little. */
const PLENTY: JsonBounds = { depth: 300, items: 1_000_000 }

/** Matches numbers that may be rounded; shorter ones without an exponent have at most 15 digits, which a double represents exactly. */
const suspicious = /[\d.]{16}|\d[eE]/

/**
 * Reads JSON that comes from outside, without loss: a number that a double cannot represent exactly is a problem, and so is a text that is
 * deeper or wider than the bounds (300 levels, 1,000,000 items), which are checked before the text is parsed. Never throws.
 * @example
 * const read = readJson('{"amount":9007199254740993}')
 * if ('problem' in read) console.log(read.problem) // inexact
 */
export function readJson(text: string, bounds: JsonBounds = PLENTY): ReadJson {
  const excess = excessOf(text, bounds)
  if (excess !== null) return { problem: 'excess', message: excess }
  try {
    const value: unknown = suspicious.test(text)
      ? JSON.parse(text, exact as (key: string, value: unknown) => unknown)
      : JSON.parse(text)
    return { value }
  } catch (error) {
    if (error instanceof Inexact) return { problem: 'inexact', message: error.message }
    return { problem: 'syntax', message: `is no JSON: ${(error as Error).message}` }
  }
}

class Inexact extends Error {}

function exact(_: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || denotes(source) === denotes(String(value))) return value
  throw new Inexact(`has the number ${source.slice(0, 50)}, which would be rounded to ${value}: write it as a string`)
}

/** The number's significant digits and the position of the first, which are the same for all notations. */
function denotes(text: string): string {
  const [, whole = '', part = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = whole + part
  const first = digits.search(/[1-9]/)
  if (whole === '') return text // Infinity
  if (first < 0) return '0'
  let last = digits.length
  while (digits.charAt(last - 1) === '0') last-- // a pattern for this would restart at each zero of a million
  const sign = text.startsWith('-') ? '-' : ''
  return `${sign}${digits.slice(first, last)}e${whole.length - first + Number(exponent)}`
}

/** Which bound the text exceeds, checked before it is parsed; null: none. Whether the text is valid JSON is not checked. */
function excessOf(text: string, { depth, items }: JsonBounds): string | null {
  const counts: number[] = []
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOf(text, at)
        break
      case COMMA: {
        const count = (counts.at(-1) ?? 0) + 1
        if (count >= items) return `has an array or object of more than ${items} items`
        if (counts.length > 0) counts[counts.length - 1] = count
        break
      }
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        if (counts.length === depth) return `is nested deeper than ${depth} levels`
        counts.push(0)
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        counts.pop()
    }
  }
  return null
}

/** The end of the string that begins here. */
function endOf(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return text.length
    let back = quote
    while (text.charCodeAt(back - 1) === BACKSLASH) back--
    if ((quote - back) % 2 === 0) return quote
    at = quote + 1
  }
}

const [QUOTE, COMMA, BACKSLASH, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [34, 44, 92, 91, 93, 123, 125]
