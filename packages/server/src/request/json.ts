import { Refused } from '../problem/problem.ts'

interface Bounds {
  depth: number
  items: number
}

/** Shorter numbers without an exponent have at most 15 digits, which a double holds. */
const suspicious = /[\d.]{16}|\d[eE]/

/**
 * What the text says as JSON, if nothing is lost by it. Throws INVALID_JSON, also for what is deeper or wider than the bounds, and
 * INEXACT_NUMBER.
 */
export function parseJson(text: string, bounds: Bounds): unknown {
  measure(text, bounds)
  try {
    return suspicious.test(text)
      ? JSON.parse(text, exact as (key: string, value: unknown) => unknown)
      : JSON.parse(text)
  } catch (error) {
    if (error instanceof Refused) throw error
    throw new Refused('INVALID_JSON', 'the body is no JSON')
  }
}

function exact(_: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || denotes(source) === denotes(String(value))) return value
  throw new Refused(
    'INEXACT_NUMBER',
    `the number ${source.slice(0, 50)} would be rounded to ${value}: send it as a string`,
  )
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

/** Throws before a parser has made anything of what is too deep or too wide. Whether it is JSON at all is not asked here. */
function measure(text: string, { depth, items }: Bounds): void {
  const counts: number[] = []
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOf(text, at)
        break
      case COMMA: {
        const count = (counts.at(-1) ?? 0) + 1
        if (count >= items)
          throw new Refused('INVALID_JSON', `an array or object of the body has more than ${items} items`)
        if (counts.length > 0) counts[counts.length - 1] = count
        break
      }
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        if (counts.length === depth) throw new Refused('INVALID_JSON', `the body is nested deeper than ${depth} levels`)
        counts.push(0)
        break
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        counts.pop()
    }
  }
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
