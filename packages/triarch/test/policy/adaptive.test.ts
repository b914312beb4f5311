import { describe, expect, it } from 'vitest'
import {
  accustomed,
  adapted,
  afterBusy,
  afterCalm,
  areMany,
  type Observed,
  type Usual,
} from '../../src/policy/adaptive.ts'

const rule = { least: 2, most: 50 }
const well: Observed = { answers: 20, ill: 0, slowness: 1, busiest: 50 }

describe('an adaptive limit', () => {
  it('grows while attempts take what they usually take, up to the most', () => {
    let limit = 4
    for (let windows = 0; windows < 100; windows++) {
      const next = adapted(limit, well, rule)
      expect(next).toBeGreaterThanOrEqual(limit)
      limit = next
    }
    expect(limit).toBe(50)
  })

  it('shrinks while they take longer, the more so the longer, down to the least', () => {
    expect(adapted(40, { ...well, slowness: 6 }, rule)).toBeLessThan(adapted(40, { ...well, slowness: 2 }, rule))
    let limit = 40
    for (let windows = 0; windows < 100; windows++) limit = adapted(limit, { ...well, slowness: 1_000, ill: 3 }, rule)
    expect(limit).toBe(2)
  })

  it('takes some scatter for none', () => {
    expect(adapted(10, { ...well, slowness: 1.15 }, rule)).toBeGreaterThan(10)
  })

  it('shrinks by a share where attempts say that the service is ill, also when none says anything else', () => {
    expect(adapted(10, { ...well, ill: 4 }, rule)).toBeCloseTo(7)
    expect(adapted(10, { ...well, ill: 20, slowness: null }, rule)).toBeCloseTo(7)
    // One in ten is everyday life.
    expect(adapted(10, { ...well, ill: 2 }, rule)).toBeGreaterThan(10)
  })

  it('does not grow where it is not made use of', () => {
    expect(adapted(10, { ...well, busiest: 9 }, rule)).toBe(10)
    expect(adapted(10, { ...well, busiest: 10 }, rule)).toBeGreaterThan(10)
  })

  it('stays as it is where nothing was answered', () => {
    expect(adapted(10, { answers: 0, ill: 0, slowness: null, busiest: 50 }, rule)).toBe(10)
  })

  it('goes a part of the way at a time where attempts take longer', () => {
    const whole = 40 / 2 + 0.3 * Math.sqrt(40)
    expect(adapted(40, { ...well, slowness: 2.2 }, rule)).toBeCloseTo(40 + (whole - 40) * 0.4)
  })

  it('keeps to bounds that became others', () => {
    expect(adapted(40, well, { least: 1, most: 5 })).toBe(5)
    expect(adapted(1, { ...well, ill: 20 }, { least: 8, most: 20 })).toBe(8)
  })
})

describe('what is usual', () => {
  const learnt = (times: readonly number[]) => times.reduce<Usual | undefined>(accustomed, undefined)
  const usual = { ms: 100, count: 10 }

  it('is learnt from the first attempts, and not from those that come later beside others', () => {
    expect(learnt([100, 200, 300])?.ms).toBeCloseTo(200)
    const first = Array.from({ length: 10 }, () => 100)
    expect(learnt([...first, ...first.map(() => 1_000)])?.ms).toBeCloseTo(100)
  })

  it('falls at once where attempts are clearly faster, and does not rise where they may have waited', () => {
    expect(afterBusy(usual, { count: 10, ms: 500 }).ms).toBe(50)
    expect(afterBusy(usual, { count: 10, ms: 5_000 }).ms).toBe(100)
    expect(afterBusy(usual, { count: 10, ms: 900 }).ms).toBe(100)
    // Two thirds are not clearly less.
    expect(afterBusy({ ms: 300, count: 10 }, { count: 10, ms: 2_000 }).ms).toBe(300)
    expect([areMany({ count: 39, ms: 1 }), areMany({ count: 40, ms: 1 })]).toEqual([false, true])
  })

  it('follows attempts that did not wait, up and down, by a part each time', () => {
    let [up, down] = [usual, usual]
    for (let times = 0; times < 15; times++) {
      up = afterCalm(up, { count: 20, ms: 20_000 })
      down = afterCalm(down, { count: 20, ms: 200 })
    }
    expect(afterCalm(usual, { count: 20, ms: 20_000 }).ms).toBeLessThan(500)
    expect(up.ms).toBeGreaterThan(950)
    expect(down.ms).toBeLessThan(15)
    expect(afterCalm(usual, { count: 1, ms: 1_000 }).ms).toBeLessThan(150)
  })
})
