import { describe, expect, it } from 'vitest'
import { agedRank } from '../../src/policy/line.ts'
import { roomIn } from '../../src/policy/room.ts'

const START = Date.UTC(2026, 0, 1)

describe('the rank of what waits', () => {
  it('is its priority in spans of ageing, less what it came later', () => {
    expect(agedRank(0, START + 5_000, 60_000)).toBe(-5)
    expect(agedRank(2, START + 5_000, 60_000)).toBe(115)
    // One level is worth one span.
    expect(agedRank(1, START + 60_000, 60_000)).toBe(agedRank(0, START, 60_000))
  })

  it('fits 32 bits, whatever the priority', () => {
    expect(agedRank(1e9, START, 1e9)).toBe(2 ** 31 - 1)
    expect(agedRank(-1e9, START, 1e9)).toBe(1 - 2 ** 31)
  })
})

it('a node lets in half of what is free, rounded up, and nothing where the line is full', () => {
  expect([0, 7, 9, 10, 12].map((waiting) => roomIn(10, waiting))).toEqual([5, 2, 1, 0, 0])
})
