import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTriarchError } from '../../src/error/error.ts'
import { elsewhere, filterFields } from '../../src/filter/field.ts'
import type { Filter, FilterTerm } from '../../src/filter/filter.ts'
import { formatFilter, parseFilter } from '../../src/filter/grammar.ts'
import { anyFilter, anyText } from './filters.ts'

const is = (field: string, ...texts: string[]): FilterTerm => ({
  field,
  test: { type: 'is', values: texts.map((text) => ({ text })) },
})
const range = (field: string, test: { from?: number; to?: number }): FilterTerm => ({
  field,
  test: { type: 'range', ...test },
})
const day = (text: string) => Date.parse(`${text}T00:00Z`)

/** What is wrong, where, and what is suggested. */
function refusal(text: string): { position: number; hint: string; message: string } {
  try {
    parseFilter(text)
  } catch (error) {
    if (!isTriarchError(error, 'INVALID_FILTER')) throw error
    const { position, hint = '' } = error.details as { position: number; hint?: string }
    return { position, hint, message: error.message }
  }
  throw new Error(`${text} is a filter`)
}

describe('a filter', () => {
  it('says what an operator looks for', () => {
    const text =
      'status:paused workflow:fulfil-* age:>2h step:charge error~"card declined" tag.customer:42 -parent:* sort:oldest'
    expect(parseFilter(text)).toEqual({
      terms: [
        is('status', 'paused'),
        { field: 'workflow', test: { type: 'is', values: [{ text: 'fulfil-', prefix: true }] } },
        range('age', { from: 7_200_001 }),
        is('step', 'charge'),
        { field: 'error', test: { type: 'contains', text: 'card declined' } },
        is('tag.customer', '42'),
        { field: 'parent', not: true, test: { type: 'any' } },
      ],
      order: 'oldest',
    } satisfies Filter)
  })

  it.each<[text: string, term: FilterTerm]>([
    ['status:running,paused', is('status', 'running', 'paused')],
    ['id:"a b"', is('id', 'a b')],
    ['id:"say \\"\\\\\\""', is('id', 'say "\\"')],
    ['id:a:b~c..d', is('id', 'a:b~c..d')],
    ['id:"a*"', is('id', 'a*')],
    ['id:"a b"*,c', { field: 'id', test: { type: 'is', values: [{ text: 'a b', prefix: true }, { text: 'c' }] } }],
    ['tag."odd name":""', is('tag.odd name', '')],
    ['priority:5', range('priority', { from: 5, to: 5 })],
    ['priority:-5..-1', range('priority', { from: -5, to: -1 })],
    ['failures:>=3', range('failures', { from: 3 })],
    ['failures:<3', range('failures', { to: 2 })],
    ['age:<=15m', range('age', { to: 900_000 })],
    ['age:1h..*', range('age', { from: 3_600_000 })],
    ['idle:*..1.5h', range('idle', { to: 5_400_000 })],
    ['submitted:2026-11-22', range('submitted', { from: day('2026-11-22'), to: day('2026-11-23') - 1 })],
    ['submitted:>2026-11-22', range('submitted', { from: day('2026-11-23') })],
    ['submitted:<2026-11-22', range('submitted', { to: day('2026-11-22') - 1 })],
    ['submitted:2026-11-20..2026-11-22', range('submitted', { from: day('2026-11-20'), to: day('2026-11-23') - 1 })],
    ['updated:>=2026-11-22T10:30+01:00', range('updated', { from: day('2026-11-22') + 9.5 * 3_600_000 })],
    ['updated:<=2026-11-22T00:00Z', range('updated', { to: day('2026-11-22') + 59_999 })],
    [
      'updated:2026-11-22T00:00:01.5Z',
      range('updated', { from: day('2026-11-22') + 1_500, to: day('2026-11-22') + 1_500 }),
    ],
  ])('%s is understood', (text, term) => {
    expect(parseFilter(text)).toEqual({ terms: [term] })
    expect(parseFilter(`  -${text}\n`)).toEqual({ terms: [{ ...term, not: true }] })
  })

  it.each<[text: string, position: number, hint: string]>([
    ['card declined', 0, 'id:card*'],
    ['status:paused order-7', 14, 'id:order-7*'],
    ['stats:paused', 0, 'did you mean status:?'],
    ['constructor:x', 0, 'fields are'],
    ['-created:>2h', 1, 'submitted:'],
    ['reason:operator', 0, 'is cause:'],
    ['tag:x', 0, 'tag.NAME'],
    ['tag.:x', 4, 'tag.NAME'],
    ['status:pausd', 7, 'did you mean paused?'],
    ['status:*', 7, 'status:running,paused'],
    ['status:paused,', 14, 'it is one of'],
    ['status:(paused)', 7, 'in quotes'],
    ['id:', 3, 'id:order-7*'],
    ['id:a*b', 4, 'in quotes'],
    ['id:*b', 3, 'in quotes'],
    ['id:"a', 3, ''],
    ['id:"a\\n"', 5, ''],
    ['id:"a"b', 6, ''],
    ['id:>5', 3, 'in quotes'],
    ['id~x', 3, 'id:order-7*'],
    ['error~*', 6, 'error~"words"'],
    ['error~x*', 7, ''],
    ['status:paus*', 7, 'did you mean paused?'],
    ['priority:high', 9, 'priority:>0'],
    ['priority:>999999999', 9, ''],
    ['age:2h', 4, 'age:>2h'],
    ['age:>2', 5, 'age:>2h'],
    ['age:<0s', 4, ''],
    ['age:>3h..2h', 4, 'age:>2h'],
    ['age:3h..2h', 4, 'from..to'],
    ['age:*..*', 4, 'age:>2h'],
    ['submitted:>2026-02-30', 11, '2026-11-22'],
    ['submitted:2026-11-22T10:30', 10, '2026-11-22T09:30Z'],
    ['sort:oldest sort:newest', 12, ''],
    ['-sort:oldest', 0, ''],
    ['id:a\0', 0, ''],
    [`id:${'x'.repeat(4_000)}`, 4_000, ''],
    ['ready:true '.repeat(33), 352, ''],
    [`id:${Array.from({ length: 101 }, () => 'x').join()}`, 3, ''],
  ])('%s is refused where it is wrong, with what belongs there', (text, position, hint) => {
    const found = refusal(text)
    expect([found.position, found.hint]).toEqual([position, expect.stringContaining(hint)])
    expect(found.message).toContain(`filter, at ${position}: `)
  })

  it('is a string', () => {
    expect(() => parseFilter(7 as unknown as string)).toThrow(expect.objectContaining({ code: 'INVALID_FILTER' }))
  })

  it('that is written and read again says the same', () => {
    return fc.assert(
      fc.property(anyFilter, (filter) => {
        expect(parseFilter(formatFilter(filter))).toEqual(filter)
      }),
      { numRuns: 500 },
    )
  })

  it('is what any text is, or the text is refused at a place inside of it', () => {
    const refused = (text: string) => {
      const { position } = refusal(text)
      expect(position).toBeGreaterThanOrEqual(0)
      expect(position).toBeLessThanOrEqual(text.length)
    }
    return fc.assert(
      fc.property(anyText, (text) => {
        let filter: Filter
        try {
          filter = parseFilter(text)
        } catch {
          return refused(text)
        }
        expect(parseFilter(formatFilter(filter))).toEqual(filter)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('the table of fields', () => {
  it.each(filterFields)('has an example of $name that is a filter, and values that may be asked for', (field) => {
    const { name, example, values = [] } = field
    expect(example).toContain(name)
    expect(parseFilter(example)).toBeDefined()
    for (const value of values) expect(parseFilter(`${name}:${value}`)).toBeDefined()
  })

  it('has nothing in it that is elsewhere', () => {
    expect(filterFields.map(({ name }) => name).filter((name) => Object.hasOwn(elsewhere, name))).toEqual([])
  })
})
