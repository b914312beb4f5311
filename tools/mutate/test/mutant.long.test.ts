import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { course, embedded } from '../embed.ts'
import { Journal } from '../journal.ts'
import { mutate } from '../mutant.ts'
import { mutantsOf } from '../mutator.ts'
import { parseOptions } from '../options.ts'
import { gone, score } from '../score.ts'
import { functionsIn, mutantsOfFunction } from '../sql.ts'
import { chosen } from '../suites.ts'
import { mutantsOfSql, root, type Target, targets } from '../target.ts'

/** Every text the source can be turned into. */
function allOf(source: string): string[] {
  return mutantsOf('a.ts', source).map((mutant) => mutate(source, mutant))
}

describe('every mutant of a source', () => {
  it('negates a condition', () => {
    expect(allOf('const a = b ? 1 : 2')).toEqual(['const a = !(b) ? 1 : 2'])
  })

  it('shifts a comparison, and an equality once', () => {
    expect(allOf('const a = b < 1')).toEqual(['const a = b <= 1'])
    expect(allOf('const a = b === 1 ? 1 : 2')).toEqual(['const a = b !== 1 ? 1 : 2'])
  })

  it('swaps what connects conditions', () => {
    expect(allOf('const a = b && (c || d)')).toEqual(['const a = (b) || ((c || d))', 'const a = b && ((c) && (d))'])
  })

  it('drops a statement', () => {
    expect(allOf('function f() { g(); return h() }')).toEqual([
      'function f() { ; return h() }',
      'function f() { g(); ; }',
    ])
  })

  it('leaves types alone', () => {
    expect(allOf('type A = B extends C ? 1 : 2; const a: A = b as A')).toEqual([])
  })

  it('has a name of its own, that does not depend on what is before it', () => {
    const keys = (source: string) => mutantsOf('a.ts', source).map(({ key }) => key)
    expect(keys('function f() { g()\ng() }')).toEqual(['a.ts f: drop g()', 'a.ts f: drop g() #2'])
    expect(keys('const x = 1\nfunction f() { g() }')).toEqual(keys('function f() { g() }'))
  })
})

describe('functions of SQL', () => {
  const made = (name: string, body: string, language = 'plpgsql') =>
    `CREATE FUNCTION triarch.${name}(a int) RETURNS int LANGUAGE ${language} AS $$${body}$$;`
  /** Every text the body can be turned into. */
  const bodiesOf = (body: string, language?: string) => {
    const source = made('f', body, language)
    return functionsIn([['a.sql', source]]).flatMap((of) =>
      mutantsOfFunction(source, of).map((mutant) => mutate(source, mutant).split('$$')[1]),
    )
  }

  it('are those that are left: of several of one name the last, under the name it has at the end', () => {
    const left = functionsIn([
      ['1.sql', `${made('f', 'one')} ${made('g', 'two')} ${made('h', 'three')}`],
      ['2.sql', `ALTER FUNCTION triarch.f(int) RENAME TO old; ${made('f', 'four')} DROP FUNCTION triarch.h(int);`],
    ])
    expect(left.map(({ name, file, body }) => [name, file, body])).toEqual([
      ['g', '1.sql', 'two'],
      ['old', '1.sql', 'one'],
      ['f', '2.sql', 'four'],
    ])
  })

  it('are, of the store, those that a schema has', () => {
    const page = readFileSync(join(root, 'packages/postgres/test/schema.txt'), 'utf8')
    const digest = (body: string) => createHash('md5').update(body.replaceAll('triarch.', '')).digest('hex')
    const all = mutantsOfSql(targets.sql as Target)
    expect(all.length).toBeGreaterThan(80)
    expect(all.filter(({ of }) => !page.includes(digest(of.body))).map(({ of }) => of.name)).toEqual([])
  })

  it('have comparisons shifted, connectives swapped, absence negated, and no assignment touched', () => {
    expect(bodiesOf('SELECT 1 WHERE a BETWEEN 1 AND 2 AND b < 3', 'sql')).toEqual([
      'SELECT 1 WHERE a BETWEEN 1 AND 2 OR b < 3',
      'SELECT 1 WHERE a BETWEEN 1 AND 2 AND b <= 3',
    ])
    expect(bodiesOf('UPDATE t SET a = CASE WHEN b = 1 THEN 2 END, c = 3 WHERE d = 4', 'sql')).toEqual([
      'UPDATE t SET a = CASE WHEN b <> 1 THEN 2 END, c = 3 WHERE d = 4',
      'UPDATE t SET a = CASE WHEN b = 1 THEN 2 END, c = 3 WHERE d <> 4',
    ])
    expect(bodiesOf('SELECT NOT EXISTS (SELECT 1 WHERE a IS NOT NULL), b IS NULL', 'sql')).toEqual([
      'SELECT  EXISTS (SELECT 1 WHERE a IS NOT NULL), b IS NULL',
      'SELECT NOT EXISTS (SELECT 1 WHERE a IS  NULL), b IS NULL',
      'SELECT NOT EXISTS (SELECT 1 WHERE a IS NOT NULL), b IS NOT NULL',
    ])
  })

  it('lose locks and what skips them', () => {
    expect(
      bodiesOf("SELECT 'FOR UPDATE' FROM t ORDER BY a DESC FOR NO KEY UPDATE OF t SKIP LOCKED -- AND", 'sql'),
    ).toEqual([
      "SELECT 'FOR UPDATE' FROM t ORDER BY a  FOR NO KEY UPDATE OF t SKIP LOCKED -- AND",
      "SELECT 'FOR UPDATE' FROM t ORDER BY a DESC  -- AND",
      "SELECT 'FOR UPDATE' FROM t ORDER BY a DESC FOR NO KEY UPDATE OF t  -- AND",
    ])
  })

  it('lose statements, and have conditions negated', () => {
    expect(bodiesOf('BEGIN IF a IS NULL THEN a := 1; END IF; PERFORM b(1); RETURN a; END')).toEqual([
      'BEGIN IF NOT (a IS NULL) THEN a := 1; END IF; PERFORM b(1); RETURN a; END',
      'BEGIN IF a IS NOT NULL THEN a := 1; END IF; PERFORM b(1); RETURN a; END',
      'BEGIN IF a IS NULL THEN NULL; END IF; PERFORM b(1); RETURN a; END',
      'BEGIN IF a IS NULL THEN a := 1; END IF; NULL; RETURN a; END',
    ])
  })
})

describe('a source with all its mutants in it', () => {
  const source = `function f(a, b, told) {
    if (a > 0 && (b > 0 || a === b)) told.push('both')
    else if (a < b) return 'less'
    for (let n = 0; n < Math.min(a, 3); n++) { if (n === b) break; told.push(n) }
    return told.length > 2 ? 'many' : 'few'
  }`
  const mutants = mutantsOf('a.ts', source)
  const state = course()

  /** What the function does with each of some arguments. */
  function deeds(text: string): string[] {
    const f = new Function(`${text}\nreturn f`)() as (a: number, b: number, told: unknown[]) => string
    const cases = [
      [0, 0],
      [1, 0],
      [1, 1],
      [2, 1],
      [5, 2],
      [-1, 3],
    ] as const
    return cases.map(([a, b]) => {
      const told: unknown[] = []
      return `${f(a, b, told)} ${told.join()}`
    })
  }

  it('is the original while none is active', () => {
    expect(deeds(embedded(source, [...mutants.entries()]))).toEqual(deeds(source))
  })

  it('is each of them while that one is', () => {
    const all = embedded(source, [...mutants.entries()])
    const ending = mutants.filter(({ key }) => !/\+\+/.test(key))
    expect(ending.length).toBeGreaterThan(10)
    for (const mutant of ending) {
      state.active = mutants.indexOf(mutant)
      expect(deeds(all), mutant.key).toEqual(deeds(mutate(source, mutant)))
    }
    state.active = null
  })

  it('ends where one of them turns in a circle', () => {
    const mutants = mutantsOf('a.ts', 'function f() { for (let n = 0; n < 1; n++) continue }')
    const [f] = [
      new Function(
        `${embedded('function f() { for (let n = 0; n < 1; n++) continue }', [...mutants.entries()])}\nreturn f`,
      )(),
    ]
    Object.assign(state, { active: mutants.findIndex(({ key }) => /\+\+/.test(key)), asked: 0, most: 1_000 })
    expect(f).toThrow('circle')
    Object.assign(state, { active: null, most: Number.POSITIVE_INFINITY })
  })

  it('tells which of them it comes by', () => {
    const source = 'function f() { return g(0) }\nfunction g(n) { return n > 0 ? n < 1 : n === 0 }'
    const mutants = mutantsOf('a.ts', source)
    state.reached = new Set()
    deeds(embedded(source, [...mutants.entries()]))
    const reached = [...state.reached].map((id) => mutants[id]?.key)
    state.reached = null
    const others = mutants.map(({ key }) => key).filter((key) => !reached.includes(key))
    expect(others).toEqual(['a.ts g: < to <= n < 1'])
  })
})

describe('tests that may judge a mutant', () => {
  const tests = ['a', 'b', 'c', 'd', 'e'].map((name) => [name, new Set(name === 'e' ? [1, 2] : [1])] as const)
  const judges = (mutant: number, most: number) =>
    [...chosen(tests, [1, 2], most)].flatMap(([name, mutants]) => (mutants.includes(mutant) ? [name] : []))

  it('are all that come by it, or so many of them, from everywhere', () => {
    expect(judges(1, Number.POSITIVE_INFINITY)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(judges(1, 2)).toEqual(['a', 'c'])
    expect(judges(2, 2)).toEqual(['e'])
  })

  it('are so many as is asked', () => {
    expect([parseOptions(['--tests', '3'])?.tests, parseOptions([])?.tests]).toEqual([3, Number.POSITIVE_INFINITY])
    expect(() => parseOptions(['--tests', 'x'])).toThrow('--tests takes a whole number from 0')
  })
})

it('the list of equivalent mutants tells of mutants that there are', () => {
  expect(gone()).toEqual([])
})

// The simulation alone judges: it depends on its seeds and on nothing else, a busy machine included. It notices two in five; the
// bound is far below, for each change of the kernel draws another sample.
it('a sample of the kernel’s mutants is noticed by the simulation', { timeout: 600_000 }, async () => {
  const bounds = { only: '', shard: { n: 1, of: 120 }, seeds: 2, by: null }
  const { judged, share, survivors } = await score('kernel', bounds, new Journal(null), () => undefined)
  expect(judged).toBeGreaterThan(15)
  expect(share, survivors.map(({ key }) => key).join('\n')).toBeGreaterThan(0.1)
})
