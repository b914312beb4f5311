import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Filter, FilterTerm, FilterTest } from '../../src/filter/filter.ts'
import { formatFilter, parseFilter } from '../../src/filter/grammar.ts'
import type { TaskRow } from '../../src/store/port.ts'
import { fits as fitsFilter } from '../../src/view/fitting.ts'
import { anyText } from '../filter/filters.ts'
import type { Bench } from './conformance.ts'
import { list, queryOf } from './listing.ts'
import { creation, newTask, released, snapshot } from './samples.ts'

const at = 1_800_000_000_000
const now = at + 10_000
/** Told by texts that only the client can read: the store is asked for what may have them. */
const told = new Set(['error', 'step', 'cause'])

/** What a filter means, said once more and in the plainest way. */
function fits(row: TaskRow, { field, not, test }: FilterTerm): boolean {
  const values: Record<string, string | number | boolean | null | undefined> = {
    ...row,
    outcome: row.result,
    node: row.lockedBy,
    submitted: row.submittedAt,
    updated: row.updatedAt,
    age: now - row.submittedAt,
    idle: now - row.updatedAt,
    tags: null,
    undecoded: null,
  }
  const value = field.startsWith('tag.') ? row.tags[field.slice(4)] : values[field]
  return passes(value, test) !== (not ?? false)
}

function passes(value: string | number | boolean | null | undefined, test: FilterTest): boolean {
  if (value === null || value === undefined) return false
  switch (test.type) {
    case 'any':
      return true
    case 'is':
      return test.values.some(({ text, prefix }) => (prefix ? String(value).startsWith(text) : String(value) === text))
    case 'range':
      return Number(value) >= (test.from ?? -Infinity) && Number(value) <= (test.to ?? Infinity)
    case 'contains':
      throw new Error('no column of the store contains words')
  }
}

const texts: Record<string, readonly string[]> = {
  status: ['pending', 'scheduled', 'running', 'paused', 'stopped'],
  outcome: ['pending', 'success', 'error', 'cancelled', 'warning'],
  workflow: ['flow', 'other', 'flo', 'öl'],
  version: ['1', '2', '10'],
  id: ['t1', 't10', 't', 'ö', '\u{10ffff}', 'none'],
  parent: ['t1', 't', 'none'],
  node: ['a', 'b', ''],
  'tag.shop': ['north', 'n', 'south', '', '%'],
  'tag.odd "name"': ['\u{10ffff}x', '\u{10ffff}', 'x'],
  ready: ['true', 'false'],
  quarantined: ['true', 'false'],
}
const numbers: Record<string, readonly number[]> = {
  priority: [-1, 0, 3],
  failures: [0, 1, 2],
  age: [0, 9_990, 10_000],
  idle: [0, 9_000, 10_000],
  submitted: [at, at + 3, at + 10],
  updated: [at, at + 1, at + 2_000],
}
const choices = new Set(['status', 'outcome', 'ready', 'quarantined'])
const given = new Set(['parent', 'node', 'tag.shop', 'tag.odd "name"'])

const term: fc.Arbitrary<FilterTerm> = fc
  .constantFrom(...Object.keys(texts), ...Object.keys(numbers))
  .chain((field) => {
    const known = numbers[field]
    const end = fc.option(fc.constantFrom(...(known ?? [0])), { nil: undefined })
    const value = fc
      .record({ text: fc.constantFrom(...(texts[field] ?? [''])), prefix: fc.boolean() })
      .map(({ text, prefix }) => ({
        text,
        ...(prefix && !choices.has(field) && { prefix: true as const }),
      }))
    const is = fc.array(value, { minLength: 1, maxLength: 3 }).map((values): FilterTest => ({ type: 'is', values }))
    const range = fc.tuple(end, end).map(
      ([from, to]): FilterTest => ({
        type: 'range',
        ...(from === undefined && to === undefined && { from: 0 }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && to >= (from ?? to) && { to }),
      }),
    )
    const test = known ? range : given.has(field) ? fc.oneof(is, fc.constant<FilterTest>({ type: 'any' })) : is
    return fc
      .record({ test, not: fc.boolean() })
      .map(({ test, not }) => ({ field, ...(not && { not: true as const }), test }))
  })

const filter: fc.Arbitrary<Filter> = fc.record({
  terms: fc.array(term, { minLength: 1, maxLength: 3 }),
  order: fc.constantFrom('newest', 'oldest'),
})

export function filterSuite(bench: Bench): void {
  describe('a filter', () => {
    beforeEach(async () => {
      const { store } = bench
      const tags = (shop: string) => ({ shop })
      await store.submit([
        newTask('t1', { at, tags: tags('north') }),
        newTask('t2', { at: at + 1, workflow: 'other', tags: { ...tags('n'), 'odd "name"': 'x' } }),
        newTask('t3', { at: at + 2, status: 'scheduled', startAt: at + 999, parent: 't1', priority: 3 }),
        newTask('t10', { at: at + 3, version: '2', tags: tags('south'), priority: -1 }),
        newTask('ö', { at: at + 4, workflow: 'öl', version: '10', tags: { 'odd "name"': '\u{10ffff}' }, parent: 't' }),
        newTask('\u{10ffff}', { at: at + 5, tags: { ...tags(''), 'odd "name"': '\u{10ffff}x' } }),
      ])
      const ends = ['success', 'error', 'cancelled', 'warning'] as const
      await store.commit([
        ...ends.map((result, i) =>
          creation(newTask(`e${i}`, { at: at + 6 + i, tags: tags('north'), ...(i === 1 && { parent: 't1' }) }), {
            snapshot: snapshot({ status: 'stopped', result, failures: i, error: i > 0 ? '{"message":"no"}' : null }),
            release: released,
            at: at + 2_000,
          }),
        ),
        creation(newTask('p', { at: at + 10 }), { snapshot: snapshot({ status: 'paused', failures: 2 }), node: 'a' }),
        creation(newTask('r', { at: at + 10 }), {
          snapshot: snapshot({ status: 'running', result: 'error' }),
          node: 'b',
        }),
      ])
      const apart = await store.commit([creation(newTask('q', { at: at + 11, tags: tags('north') }))])
      const record = { events: '[{"type":"unheeded"}]', pause: '{"reason":"quarantine"}' }
      const key = (await store.task('q'))?.key ?? 0
      expect(apart).toMatchObject([{ ok: true }])
      expect(await store.quarantine({ key, id: 'q', node: 'a', epoch: 1, at: now, orphaned: false, record })).toBe(true)
    })

    it('finds what it says and nothing else, in order, whole and in pages', async () => {
      const all = await list(bench.store, { order: 'oldest' })
      await fc.assert(
        fc.asyncProperty(filter, async (filter) => {
          const text = formatFilter(filter)
          const expected = all.filter((row) => filter.terms.every((term) => fits(row, term))).map(({ id }) => id)
          if (filter.order === 'newest') expected.reverse()
          const alone = all.filter((row) => fitsFilter(row, parseFilter(text), now)).map(({ id }) => id)
          expect(filter.order === 'newest' ? alone.reverse() : alone, text).toEqual(expected)
          const { rows, looked } = await bench.store.list(queryOf({ filter: text }, now))
          expect([rows.map(({ id }) => id), looked], text).toEqual([expected, null])
          const middle = rows[Math.floor(rows.length / 2)]
          if (!middle) return
          const page = await bench.store.list(queryOf({ filter: text, after: middle.key, limit: 2 }, now))
          const behind = expected.slice(expected.indexOf(middle.id) + 1)
          expect(
            page.rows.map(({ id }) => id),
            text,
          ).toEqual(behind.slice(0, 2))
        }),
        { numRuns: 150 },
      )
    })

    it('of what went wrong asks for all that may have an error', async () => {
      const found = await list(bench.store, { filter: 'error:*', order: 'oldest' })
      expect(found.map(({ id }) => id)).toEqual(['e1', 'e2', 'e3', 'p', 'r', 'q'])
      expect((await list(bench.store, { filter: 'cause:*' })).map(({ id }) => id)).toEqual(['q', 'p'])
    })

    it('is never more than values to the store, whatever is typed', async () => {
      const all = (await list(bench.store)).length
      await fc.assert(
        fc.asyncProperty(anyText, async (text) => {
          let filter: Filter
          try {
            filter = parseFilter(text)
          } catch {
            return
          }
          const { rows } = await bench.store.list(queryOf({ filter: text }, now))
          const known = filter.terms.filter(({ field }) => !told.has(field))
          expect(rows.filter((row) => !known.every((term) => fits(row, term)))).toEqual([])
        }),
        { numRuns: 150 },
      )
      expect(await list(bench.store)).toHaveLength(all)
    })
  })
}
