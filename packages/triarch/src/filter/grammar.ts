// The filter language, from text to data and back:
//
//   filter   = { term } .                                       terms are parted by spaces; all of them hold
//   term     = [ "-" ] field ( ":" test | "~" value ) .         "-": what follows does not hold
//   field    = name | "tag." value .
//   test     = "*" | list | range .
//   list     = value [ "*" ] { "," value [ "*" ] } .            one of these; "*": what begins with it
//   range    = [ ">" | ">=" | "<" | "<=" ] word | ( word | "*" ) ".." ( word | "*" ) .
//   value    = word | quoted .
//   quoted   = '"' { any character, with \" and \\ for these two } '"' .
//
// Which tests a field knows says the table in field.ts.
import { TriarchError } from '../error/error.ts'
import { LONGEST_DURATION } from '../value/duration.ts'
import { nearestOf } from '../value/options.ts'
import { isStorable } from '../value/text.ts'
import { elsewhere, type FilterField, type FilterKind, type FilterTestName, filterFields } from './field.ts'
import type { Filter, FilterTerm, FilterTest, FilterText } from './filter.ts'
import { durationOf, durationText, INSTANTS, instantOf, instantText } from './span.ts'

const LONGEST = 4_000
const MOST_TERMS = 32
const MOST_VALUES = 100
/** Largest number: nine digits. */
const LARGEST = 999_999_999

const TAG = 'tag.'
const byName = new Map(filterFields.map((field) => [field.name, field]))
const names = filterFields.map(({ name }) => name)

/**
 * Parses a filter. Throws INVALID_FILTER; its `details` have the `position` in the text (from 0) and, if there is one, a `hint`.
 * @example const { terms } = parseFilter('status:paused age:>2h error~"card declined" -parent:*')
 */
export function parseFilter(text: string): Filter {
  if (typeof text !== 'string') throw invalid(0, 'a filter is a string')
  if (text.length > LONGEST) throw invalid(LONGEST, `a filter has at most ${LONGEST} characters`)
  if (!isStorable(text)) throw invalid(0, 'a filter has no NUL and no half surrogate pairs')
  const reader = new FilterParser(text)
  const terms: FilterTerm[] = []
  let order: Filter['order']
  for (reader.skip(); !reader.ended; reader.skip()) {
    const at = reader.at
    const term = reader.term()
    if (term.field !== 'sort') terms.push(term)
    else if (term.not || order) throw invalid(at, term.not ? 'sort: cannot be negated' : 'sort: stands once')
    else order = onlyOf(term) as Filter['order']
    if (terms.length > MOST_TERMS) throw invalid(at, `a filter has at most ${MOST_TERMS} terms`)
  }
  return { terms, ...(order && { order }) }
}

/**
 * The text of a filter, which parses to the same filter.
 * @example
 * const { terms } = parseFilter('status:paused')
 * const text = formatFilter({ terms, order: 'oldest' })
 */
export function formatFilter({ terms, order }: Filter): string {
  return [...terms.map(termText), ...(order ? [`sort:${order}`] : [])].join(' ')
}

// ---- reading ---------------------------------------------------------------------------------------------------------

/** Reads the text from its beginning to its end. */
class FilterParser {
  at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get ended(): boolean {
    return this.at === this.#text.length
  }

  skip(): void {
    this.#match(/\s*/y)
  }

  term(): FilterTerm {
    const start = this.at
    const not = this.#eat('-')
    const { field, name } = this.#field(start)
    const contains = this.#eat('~')
    if (!contains) this.at++ // the colon
    const test = contains ? this.#contains(field) : this.#test(field)
    if (!this.ended && this.#match(/(?=\s)/y) === null)
      throw this.#unexpected(`a space is missing after the value of ${field.name}`)
    return { field: name, ...(not && { not }), test }
  }

  #field(start: number): { field: FilterField; name: string } {
    const at = this.at
    const word = this.#match(/[A-Za-z][\w-]*/y) ?? ''
    const tag = word === 'tag' && this.#eat('.') ? (this.#quoted() ?? this.#match(/[^\s:~",*()]+/y)) : undefined
    if (tag === null) throw invalid(this.at, 'the name of the tag is missing', 'tag.NAME:value')
    if (!'~:'.includes(this.#text.charAt(this.at) || ' ')) {
      const rest = this.#match(/[^\s]*/y)
      const hint = `write field:value, such as id:${word || 'order-7'}*; fields are ${names.join(' ')}`
      throw invalid(start, `"${shown(word + rest)}" names no field`, hint)
    }
    const field = byName.get(tag === undefined ? word : TAG)
    if (field) return { field, name: tag === undefined ? word : TAG + tag }
    const near = nearestOf(word, names)
    const hint =
      (Object.hasOwn(elsewhere, word) ? elsewhere[word] : undefined) ??
      (near ? `did you mean ${near}:?` : `fields are ${names.join(' ')}`)
    throw invalid(at, `there is no field "${shown(word)}"`, hint)
  }

  #contains(field: FilterField): FilterTest {
    this.#allowed(field, 'contains')
    const at = this.at
    const text = this.#quoted() ?? this.#match(/[^\s",*()]+/y)
    if (!text) throw invalid(at, 'what is to be found is missing', `${field.name}~"words"`)
    if (this.#eat('*')) throw invalid(this.at - 1, '~ finds words anywhere: it needs no *')
    return { type: 'contains', text }
  }

  #test(field: FilterField): FilterTest {
    if (field.kind !== 'choice' && field.kind !== 'text') return this.#range(field)
    if (this.#match(/\*(?=\s|$)/y) !== null) {
      this.#allowed(field, 'any', this.at - 1)
      return { type: 'any' }
    }
    const values: FilterText[] = []
    const at = this.at
    do values.push(this.#value(field))
    while (this.#eat(','))
    if (values.length > MOST_VALUES) throw invalid(at, `one of at most ${MOST_VALUES} values`)
    return { type: 'is', values }
  }

  #value(field: FilterField): FilterText {
    const at = this.at
    const quoted = this.#quoted()
    const text = quoted ?? this.#match(/[^\s",*()]+/y)
    if (text === null) throw this.#unexpected(`a value of ${field.name} is missing`, this.#known(field))
    if (quoted === null && /^[<>]/.test(text))
      throw invalid(at, `${field.name} knows no ranges`, 'if that is what the value begins with, put it in quotes')
    if (field.values && !field.values.includes(text))
      throw invalid(at, `${field.name} is never "${shown(text)}"`, this.#known(field, text))
    if (!this.#eat('*')) return { text }
    this.#allowed(field, 'prefix', this.at - 1)
    if (this.#match(/(?=[\s,]|$)/y) === null)
      throw invalid(
        this.at - 1,
        '* stands at the end of a value only',
        'if it belongs to the value, put that in quotes',
      )
    return { text, prefix: true }
  }

  #range(field: FilterField): FilterTest {
    this.#allowed(field, 'range')
    const at = this.at
    const text = this.#match(/[^\s",()]+/y)
    if (text === null) throw this.#unexpected(`a value of ${field.name} is missing`, field.example)
    const [, sign, word = ''] = /^(>=|<=|>|<)?(.*)$/s.exec(text) ?? []
    const dots = word.indexOf('..')
    const of = (part: string, offset: number) => spanOf(field, part, at + offset)
    if (dots < 0) {
      if (sign === undefined && !field.tests.includes('is'))
        throw invalid(at, `${field.name} is asked for as a range`, field.example)
      const [first, last] = of(word, sign?.length ?? 0)
      const [from, to] = sign === '>' ? [last + 1] : sign === '<' ? [undefined, first - 1] : [first, last]
      const [least, most] = extent(field)
      if ((from ?? most) > most || (to ?? least) < least) throw invalid(at, `no ${field.name} is so`)
      if (sign?.startsWith('>')) return { type: 'range', from: from ?? least }
      return {
        type: 'range',
        ...(sign === undefined && from !== undefined && { from }),
        ...(to !== undefined && { to }),
      }
    }
    if (sign !== undefined) throw invalid(at, `a range is either from..to or begins with ${sign}`, field.example)
    const [first, last] = [word.slice(0, dots), word.slice(dots + 2)]
    if (first === '*' && last === '*') throw invalid(at, 'a range has one end at least', field.example)
    const from = first === '*' ? undefined : of(first, 0)[0]
    const to = last === '*' ? undefined : of(last, dots + 2)[1]
    if (from !== undefined && to !== undefined && from > to)
      throw invalid(at, 'the range ends before it begins', 'it is from..to')
    return { type: 'range', ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
  }

  #allowed(field: FilterField, test: FilterTestName, at = this.at): void {
    if (field.tests.includes(test)) return
    const what: Record<FilterTestName, string> = {
      is: 'values',
      prefix: '* at the end',
      any: '*, for it always has a value',
      range: 'ranges',
      contains: '~',
    }
    throw invalid(at, `${field.name} does not take ${what[test]}`, `such as ${field.example}`)
  }

  #known({ values, example }: FilterField, given = ''): string {
    if (!values) return `such as ${example}`
    const near = nearestOf(given, values)
    return near && given ? `did you mean ${near}?` : `it is one of ${values.join(', ')}`
  }

  #quoted(): string | null {
    const at = this.at
    if (!this.#eat('"')) return null
    const text = this.#match(/(?:[^"\\]|\\["\\])*/y) ?? ''
    if (this.#eat('"')) return text.replace(/\\(.)/gs, '$1')
    if (this.ended) throw invalid(at, 'the closing " is missing')
    throw invalid(this.at, 'in quotes, \\ stands before " and \\ only')
  }

  #unexpected(problem: string, hint?: string): TriarchError {
    const found = this.#text.charAt(this.at)
    const quotes = '(),"*'.includes(found) && found !== '' ? 'values with ( ) , " or * are put in quotes' : undefined
    return invalid(this.at, problem, quotes ?? hint)
  }

  #eat(text: string): boolean {
    if (!this.#text.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.#text) ?? [null]
    this.at += found?.length ?? 0
    return found
  }
}

/** The smallest and the largest value of a field's type. */
function extent({ kind }: FilterField): readonly [number, number] {
  if (kind === 'duration') return [0, LONGEST_DURATION]
  return kind === 'instant' ? INSTANTS : [-LARGEST, LARGEST]
}

/** The first and the last moment, or number, that the word denotes. */
function spanOf({ name, kind, example }: FilterField, word: string, at: number): readonly [number, number] {
  if (kind === 'number') {
    const value = /^-?\d{1,9}$/.test(word) ? Number(word) + 0 : null
    if (value !== null) return [value, value]
    throw invalid(at, `"${shown(word)}" is no whole number of at most nine digits`, `such as ${example}`)
  }
  if (kind === 'duration') {
    const value = durationOf(word)
    if (value !== null) return [value, value]
    throw invalid(
      at,
      `"${shown(word)}" is no span of time: give a number with ms, s, m, h, d or w`,
      `such as ${example}`,
    )
  }
  const span = instantOf(word)
  if (span) return span
  const form = 'a day such as 2026-11-22 (UTC), or an instant such as 2026-11-22T09:30Z or 2026-11-22T10:30:00+01:00'
  throw invalid(at, `"${shown(word)}" is no day and no instant`, `${name} takes ${form}`)
}

function onlyOf({ test }: FilterTerm): string | undefined {
  return test.type === 'is' ? test.values[0]?.text : undefined
}

function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text
}

function invalid(position: number, problem: string, hint?: string): TriarchError {
  const message = `filter, at ${position}: ${problem}${hint === undefined ? '' : ` (${hint})`}`
  return new TriarchError('INVALID_FILTER', message, { details: { position, ...(hint !== undefined && { hint }) } })
}

// ---- writing ---------------------------------------------------------------------------------------------------------

function termText({ field, not, test }: FilterTerm): string {
  const tag = field.startsWith(TAG) ? field.slice(TAG.length) : null
  const name = tag === null ? field : TAG + (/^[\w-]+$/.test(tag) ? tag : quotedText(tag))
  const kind = byName.get(tag === null ? field : TAG)?.kind ?? 'text'
  return `${not ? '-' : ''}${name}${testText(kind, test)}`
}

function testText(kind: FilterKind, test: FilterTest): string {
  if (test.type === 'any') return ':*'
  if (test.type === 'contains') return `~${valueText(test.text)}`
  if (test.type === 'is')
    return `:${test.values.map(({ text, prefix }) => valueText(text) + (prefix ? '*' : '')).join()}`
  const { from, to } = test
  const first = from === undefined ? '*' : edgeText(kind, from, 'from')
  const last = to === undefined ? '*' : edgeText(kind, to, 'to')
  if (to === undefined) return `:>=${first}`
  if (from === undefined) return `:<=${last}`
  return first === last && kind !== 'duration' ? `:${first}` : `:${first}..${last}`
}

function edgeText(kind: FilterKind, value: number, edge: 'from' | 'to'): string {
  if (kind === 'duration') return durationText(value)
  return kind === 'instant' ? instantText(value, edge) : String(value)
}

function valueText(text: string): string {
  return /^[\p{L}\p{N}_@#/][\p{L}\p{N}_@#/.:+~=-]*$/u.test(text) ? text : quotedText(text)
}

function quotedText(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
