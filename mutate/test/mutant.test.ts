import { describe, expect, it } from 'vitest'
import { mutate } from '../mutant.ts'
import { mutantsOf } from '../mutator.ts'
import { gone, score } from '../score.ts'

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

it('the list of equivalent mutants tells of mutants that there are', () => {
  expect(gone()).toEqual([])
})

// The simulation alone judges: it depends on its seeds and on nothing else, a busy machine included.
it('a sample of the kernel’s mutants is noticed by the simulation', { timeout: 600_000 }, async () => {
  const bounds = { only: '', every: 150, seeds: 4, jobs: 1, suites: false }
  const { judged, share, survivors } = await score('kernel', bounds, () => undefined)
  expect(judged).toBeGreaterThan(10)
  expect(share, survivors.map(({ key }) => key).join('\n')).toBeGreaterThan(0.2)
})
