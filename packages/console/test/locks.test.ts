import { describe, expect, it } from 'vitest'
import { graphOf } from '../src/locks/graph.ts'

const since = '2026-01-01T00:00:00Z'
const lock = (name: string, holder: string, ...next: string[]) => ({
  ...{ name, holder, since, waiting: next.length },
  next: next.map((task) => ({ task, since })),
})
const placed = (...locks: ReturnType<typeof lock>[]) =>
  graphOf(locks).spots.map(({ task, column, row }) => `${task} ${column}.${row}`)

describe('the graph of locks', () => {
  it('puts who waits right of whom it waits for, however far that goes on', () => {
    expect(placed(lock('a', 'one', 'two', 'four'), lock('b', 'two', 'three'), lock('c', 'five'))).toEqual([
      ...['one 0.0', 'two 1.0', 'four 1.1', 'three 2.0', 'five 0.1'],
    ])
    // Also where who waits for two of them is met first.
    expect(placed(lock('z', 'two', 'three'), lock('a', 'one', 'three', 'two'))).toEqual([
      ...['two 1.0', 'three 2.0', 'one 0.0'],
    ])
  })

  it('finds those that wait for each other, and marks what closes the circle', () => {
    const { cycles, waits, spots } = graphOf([
      lock('a', 'one', 'three'),
      lock('b', 'two', 'one', 'aside'),
      lock('c', 'three', 'two'),
    ])
    expect(cycles.map((it) => it.toSorted())).toEqual([['one', 'three', 'two']])
    expect(waits.filter(({ isInCycle }) => isInCycle).map(({ from, to }) => `${from} ${to}`)).toEqual([
      ...['three one', 'one two', 'two three'],
    ])
    expect(spots.filter(({ isInCycle }) => !isInCycle).map(({ task }) => task)).toEqual(['aside'])
  })

  it('is nothing where nobody has a lock', () => {
    expect(graphOf([])).toEqual({ spots: [], waits: [], cycles: [] })
  })
})
