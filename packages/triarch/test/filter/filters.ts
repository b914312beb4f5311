import * as fc from 'fast-check'
import { filterFields } from '../../src/filter/field.ts'
import type { Filter, FilterTerm, FilterTest } from '../../src/filter/filter.ts'

/** What a store can keep: no NUL, whole characters. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 0, maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...'ab"\\*,()<>:~.- \n%_\''), maxLength: 8 }),
  )
  .filter((it) => it.isWellFormed() && !it.includes('\0'))

/** Both ends are included. */
function range(least: number, most: number): fc.Arbitrary<FilterTest> {
  const value = fc.integer({ min: least, max: most })
  return fc.tuple(value, value, fc.constantFrom('from', 'to', 'both', 'same')).map(([a, b, ends]) => {
    const [from, to] = [Math.min(a, b), Math.max(a, b)]
    if (ends === 'from') return { type: 'range', from }
    if (ends === 'to') return { type: 'range', to }
    return { type: 'range', from, to: ends === 'same' ? from : to }
  })
}

const bounds = {
  number: range(-999_999_999, 999_999_999),
  duration: fc.oneof(range(0, 315_576_000_000), range(0, 200_000)),
  instant: fc.oneof(
    range(0, 253_402_300_799_999),
    range(-30_000, 30_000).map((days) => {
      if (days.type !== 'range') return days
      const { from, to } = days
      const DAY = 86_400_000
      return {
        type: 'range' as const,
        ...(from !== undefined && { from: from * DAY }),
        ...(to !== undefined && { to: to * DAY + DAY - 1 }),
      }
    }),
  ),
}

const term: fc.Arbitrary<FilterTerm> = fc
  .constantFrom(...filterFields.filter(({ name }) => name !== 'sort'))
  .chain(({ name, kind, tests, values }) => {
    const value = values ? fc.constantFrom(...values) : text
    const one = fc
      .record({ text: value, prefix: fc.boolean() })
      .map(({ text, prefix }) => ({ text, ...(prefix && tests.includes('prefix') && { prefix: true as const }) }))
    const is = fc.array(one, { minLength: 1, maxLength: 3 }).map((values): FilterTest => ({ type: 'is', values }))
    const choices: fc.Arbitrary<FilterTest>[] = kind === 'choice' || kind === 'text' ? [is] : [bounds[kind]]
    if (tests.includes('any')) choices.push(fc.constant({ type: 'any' }))
    if (tests.includes('contains'))
      choices.push(text.filter((it) => it !== '').map((text): FilterTest => ({ type: 'contains', text })))
    const field = name === 'tag.' ? text.map((tag) => name + tag) : fc.constant(name)
    return fc
      .record({ field, not: fc.boolean(), test: fc.oneof(...choices) })
      .map(({ field, not, test }) => ({ field, ...(not && { not: true as const }), test }))
  })

/** Any filter that the language can say. */
export const anyFilter: fc.Arbitrary<Filter> = fc
  .record({
    terms: fc.array(term, { maxLength: 5 }),
    order: fc.constantFrom('newest' as const, 'oldest' as const, undefined),
  })
  .map(({ terms, order }) => ({ terms, ...(order && { order }) }))

const pieces = [
  ...filterFields.map(({ name }) => name),
  ...filterFields.map(({ example }) => example),
  ...[
    ':',
    '~',
    '*',
    '"',
    '\\',
    ',',
    '-',
    '..',
    '>',
    '<=',
    ' ',
    '\n',
    '(',
    ')',
    '2h',
    '7',
    '2026-11-22',
    'T10:00Z',
    'x',
  ],
  ...["'; DROP TABLE triarch_tasks; --", '$1', '?', '%', '__proto__', 'constructor:x', '\u{10ffff}', '\ud800', '\0'],
]

/** Any text at all, and what looks like a filter. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join('')),
)
