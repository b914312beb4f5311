/**
 * How much a text may have.
 * @example const bounds: JsonBounds = { depth: 256, items: 10_000 }
 */
export interface JsonBounds {
  /** Levels of arrays and objects. */
  depth: number
  /** Items of one array, properties of one object. */
  items: number
}

/**
 * What a text says, or why it is not taken: it is no JSON, has too much (`excess`), or a number that would be rounded (`inexact`).
 * @example const text = (it: ReadJson): string => ('problem' in it ? it.message : JSON.stringify(it.value))
 */
export type ReadJson = { value: unknown } | { problem: 'syntax' | 'excess' | 'inexact'; message: string }

/** Payloads are nested less deep, and what is around them is nested little. */
const PLENTY: JsonBounds = { depth: 300, items: 1_000_000 }

/** Shorter numbers without an exponent have at most 15 digits, which a double holds. */
const suspicious = /[\d.]{16}|\d[eE]/

/**
 * Reads JSON that comes from outside. Nothing is lost by it: a number that a double cannot hold as it is written is a problem, and so is what
 * is deeper or wider than the bounds (300 levels, 1,000,000 items), which are looked at before anything is made of the text. Never throws.
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

/** The number as its significant digits and the place of the first: the same for all ways to write it. */
function denotes(text: string): string {
  const [, whole = '', part = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = whole + part
  const first = digits.search(/[1-9]/)
  if (whole === '') return text // Infinity
  if (first < 0) return '0'
  let last = digits.length
  while (digits.charAt(last - 1) === '0') last-- // a pattern for that would begin anew at each zero of a million
  const sign = text.startsWith('-') ? '-' : ''
  return `${sign}${digits.slice(first, last)}e${whole.length - first + Number(exponent)}`
}

/** What is too much of it, before a parser has made anything of it; null: nothing. Whether it is JSON at all is not asked here. */
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

/** Where the string that begins here ends. */
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
