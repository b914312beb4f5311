import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  gap,
  isOpen,
  isVoid,
  LONGEST_REST,
  NEW_RATE,
  type RateRule,
  type RateState,
  reservableAt,
  reserve,
  rested,
  tolerance,
} from '../../src/policy/rate.ts'

const rule: RateRule = { limit: 10, per: 1_000, burst: 3 }
const NOW = 1_000_000

/** The most of them that lie in one span. */
function most(at: readonly number[], span: number): number {
  const sorted = [...at].sort((a, b) => a - b)
  return Math.max(0, ...sorted.map((from, index) => sorted.slice(index).filter((it) => it < from + span).length))
}

describe('a rate limit', () => {
  it('is never exceeded in any span, whatever nodes reserve, wait and lose, and however far behind their clocks are', () => {
    const word = fc.record({
      node: fc.nat(2),
      wait: fc.nat(400),
      wants: fc.nat(30),
      uses: fc.nat(30),
      rest: fc.option(fc.nat(600), { freq: 10 }),
      dies: fc.boolean(),
    })
    const rules = fc.record({ limit: fc.integer({ min: 1, max: 40 }), burst: fc.integer({ min: 1, max: 10 }) })
    const clocks = fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: 0, max: 90 })))
    void fc.assert(
      fc.property(rules, clocks, fc.array(word, { maxLength: 80 }), ({ limit, burst }, lags, words) => {
        const drawn = { limit, per: 1_000, burst }
        let state: RateState = NEW_RATE
        let time = NOW
        const own: number[][] = [[], [], []]
        const begun: number[] = []
        for (const { node, wait, wants, uses, rest, dies } of words) {
          time += wait
          // Each node's clock is behind by up to what it takes it to be.
          const lag = lags[node] as number
          const now = time - lag
          if (rest !== null) state = rested(state, now + rest)
          const got = reserve(state, drawn, now, wants, lag)
          state = got.state
          own[node]?.push(...got.instants)
          if (dies) own[node] = []
          for (let n = 0; n < uses; n++) {
            const index = own[node]?.findIndex((instant) => isOpen(instant, drawn, now, lag)) ?? -1
            if (index < 0) break
            own[node]?.splice(index, 1)
            begun.push(time)
          }
        }
        expect(most(begun, 1_000)).toBeLessThanOrEqual(limit + burst)
      }),
      { numRuns: 300 },
    )
  })

  it('gives no instant twice, and none closer than the limit says', () => {
    let state: RateState = NEW_RATE
    const instants: number[] = []
    for (const [at, wants] of [
      [0, 3],
      [0, 2],
      [400, 9],
      [10_000, 4],
    ] as const) {
      const got = reserve(state, rule, NOW + at, wants, 0)
      state = got.state
      instants.push(...got.instants)
    }
    const steps = instants.slice(1).map((instant, index) => instant - (instants[index] as number))
    expect(Math.min(...steps)).toBe(gap(rule))
  })

  it('lets a burst begin at once after a lull, and no more', () => {
    const { instants } = reserve(NEW_RATE, rule, NOW, 100, 1)
    expect(instants.filter((instant) => isOpen(instant, rule, NOW, 1))).toHaveLength(rule.burst)
  })

  it('gives an attempt time to begin, also where writing takes long beside an answer of the clock', () => {
    // A high rate forgets soon: of what comes in 100 ms, the oldest would be over before it is written.
    const high: RateRule = { limit: 10_000, per: 1_000, burst: 1_000 }
    const { instants } = reserve(NEW_RATE, high, NOW, 8, 0.1)
    expect(instants).toHaveLength(8)
    for (const instant of instants) expect(isOpen(instant, high, NOW + 20, 0.1)).toBe(true)
  })

  it('reserves a portion ahead and not the whole future', () => {
    const { state, instants } = reserve(NEW_RATE, rule, NOW, 1_000, 0)
    expect(instants.at(-1)).toBeLessThanOrEqual(NOW + 500)
    expect(reserve(state, rule, NOW, 10, 0)).toEqual({ state, instants: [] })
    expect(reservableAt(state)).toBeGreaterThan(NOW)
  })

  it('forgets an instant that was not used in time: what a pause kept from beginning does not come on top', () => {
    expect(isVoid(NOW, rule, NOW + tolerance(rule) - 1, 0)).toBe(false)
    expect(isVoid(NOW, rule, NOW + tolerance(rule), 0)).toBe(true)
  })

  it('lets nothing begin on a node that does not know the time well enough', () => {
    expect(isOpen(NOW, rule, NOW, tolerance(rule))).toBe(false)
    expect(
      reserve(NEW_RATE, rule, NOW, 10, Number.POSITIVE_INFINITY).instants.some((it) =>
        isOpen(it, rule, NOW, Number.POSITIVE_INFINITY),
      ),
    ).toBe(false)
  })

  it('rests for as long as its service asks, and never forever', () => {
    const state = rested(NEW_RATE, NOW + 400)
    expect(rested(state, NOW)).toBe(state)
    expect(reserve(state, rule, NOW, 5, 0).instants[0]).toBe(NOW + 400)
    const broken = rested(NEW_RATE, Number.MAX_SAFE_INTEGER)
    expect(reserve(broken, rule, NOW + LONGEST_REST, 5, 0).instants).toEqual([])
    expect(reserve({ next: NOW * 2, rests: 0 }, rule, NOW, 5, 0).instants).toEqual([])
    // A clock that was put back holds nobody up for longer than one more instant.
    const { state: kept } = reserve({ next: NOW * 2, rests: 0 }, rule, NOW, 5, 0)
    expect(kept.next).toBeLessThan(NOW + 1_000)
    expect(reserve(kept, rule, NOW + 200, 5, 0).instants[0]).toBe(kept.next)
  })
})
