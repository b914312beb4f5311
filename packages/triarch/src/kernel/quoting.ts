/** QUOTED matches every text that is quoted in a way `unquote` knows; CHANGED matches every text that `unquote` changes. */
export const QUOTED: RegExp = /[\\%+&]/
export const CHANGED: RegExp = /[\\%+&\b\f\n\r\t]|[\u0080-\uffff]/
const BEYOND = /[\u0080-\uffff]/
const ENCODED = /%(?:25)*([0-9a-f]{2})|&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|(quot|amp|lt|gt|apos));|[\u0080-\u{10ffff}]/giu
const ESCAPED = /\\+(?:u(d[89ab][0-9a-f]{2})\\+u(d[c-f][0-9a-f]{2})|u([0-9a-f]{4})|x([0-9a-f]{2}))?/gi
/** Matches what may be Base64, of either alphabet. Two Base64 characters can contain bits of one byte. */
export const BASE64: RegExp = /[\w+/-]{8,}/g
export const CHARACTERS_OF_A_BYTE = 2
const CONTROL = /[\b\f\n\r\t+]/g
const entities: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'" }
/** Control characters and the letters that stand for them behind a backslash; and the blank, which forms write as a plus sign. */
const letters: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '+': ' ' }

/** A text derived from another. `at`: the offset in the original of each character, and of the end; null: offsets are not needed. */
interface Made {
  text: string
  at: ArrayLike<number> | null
}

/**
 * Reduces all ways of quoting a text, however nested, to one form: JSON or programming languages (backslashes), URLs and forms (percent
 * signs), XML (entities). The result has no backslashes, letters in place of control characters, and UTF-8 bytes in place of non-ASCII
 * characters. `areBytes`: non-ASCII characters are replaced already.
 */
export function unquote(given: Made, areBytes = false): Made {
  const plain = rewritten(given, ENCODED, ([character, percent, decimal, hexadecimal, name]) => {
    if (percent !== undefined) return unit(percent)
    if (decimal !== undefined) return bytesOf(characterOf(Number(decimal)))
    if (hexadecimal !== undefined) return bytesOf(characterOf(Number.parseInt(hexadecimal, 16)))
    if (name !== undefined) return entities[name.toLowerCase()] ?? ''
    return areBytes ? character : bytesOf(character)
  })
  const bare = rewritten(plain, ESCAPED, ([, first, second, one, code]) => {
    if (first !== undefined && second !== undefined) return bytesOf(unit(first) + unit(second))
    const said = one ?? code
    return said === undefined ? '' : bytesOf(unit(said)).replaceAll('\\', '')
  })
  return rewritten(bare, CONTROL, ([character]) => letters[character] ?? '')
}

/** The bytes encoded by a text that is, or seems to be, Base64. */
export function decoded(text: string, from: number): Made {
  const whole = text.length % 4 === 1 ? text.slice(0, -1) : text
  const bytes = atob(whole.replaceAll('-', '+').replaceAll('_', '/'))
  return { text: bytes, at: places(bytes.length, 4 / 3, from) }
}

/** Offsets of `length` characters and of the end, `each` apart, beginning at `from`. */
export function places(length: number, each: number, from = 0): Float64Array {
  const at = new Float64Array(length + 1)
  for (let index = 0; index <= length; index++) at[index] = from + Math.floor(index * each)
  return at
}

function rewritten({ text, at }: Made, pattern: RegExp, to: (found: RegExpExecArray & [string]) => string): Made {
  let made = ''
  const places: number[] = []
  let from = 0
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const { index } = found
    const instead = to(found as RegExpExecArray & [string])
    made += text.slice(from, index) + instead
    if (at !== null) {
      for (let place = from; place < index; place++) places.push(at[place] as number)
      for (let n = 0; n < instead.length; n++) places.push(at[index] as number)
    }
    from = index + found[0].length
  }
  if (from === 0) return { text, at }
  if (at !== null) for (let place = from; place <= text.length; place++) places.push(at[place] as number)
  return { text: made + text.slice(from), at: at && places }
}

function unit(hexadecimal: string): string {
  return byte(Number.parseInt(hexadecimal, 16))
}

function characterOf(point: number): string {
  return point > 0x10ffff ? '' : String.fromCodePoint(point)
}

/** The text's UTF-8 encoding, one character for each byte. */
export function bytesOf(text: string): string {
  if (!BEYOND.test(text)) return text
  let bytes = ''
  for (const character of text) {
    const point = character.codePointAt(0) as number
    if (point < 0x80) bytes += character
    else if (point < 0x800) bytes += byte(0xc0 | (point >> 6)) + tail(point, 0)
    else if (point < 0x10000) bytes += byte(0xe0 | (point >> 12)) + tail(point, 6) + tail(point, 0)
    else bytes += byte(0xf0 | (point >> 18)) + tail(point, 12) + tail(point, 6) + tail(point, 0)
  }
  return bytes
}

function tail(point: number, shift: number): string {
  return byte(0x80 | ((point >> shift) & 0x3f))
}

function byte(code: number): string {
  return String.fromCharCode(code)
}
