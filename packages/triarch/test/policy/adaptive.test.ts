import { describe, expect, it } from 'vitest'
import { accustomed, adapted, type Observed, type Usual } from '../../src/policy/adaptive.ts'

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
    expect(adapted(10, { ...well, slowness: 1.4 }, rule)).toBeGreaterThan(10)
  })

  it('shrinks by a share where attempts say that the service is ill, also when none says anything else', () => {
    expect(adapted(10, { ...well, ill: 4 }, rule)).toBeCloseTo(7)
    expect(adapted(10, { ...well, ill: 20, slowness: null }, rule)).toBeCloseTo(7)
    expect(adapted(10, { ...well, ill: 1 }, rule)).toBeGreaterThan(10)
  })

  it('does not grow where it is not made use of', () => {
    expect(adapted(10, { ...well, busiest: 3 }, rule)).toBe(10)
  })

  it('keeps to bounds that became others', () => {
    expect(adapted(40, well, { least: 1, most: 5 })).toBe(5)
    expect(adapted(1, { ...well, ill: 20 }, { least: 8, most: 20 })).toBe(8)
  })
})

describe('what is usual', () => {
  const learnt = (times: readonly number[], every: number) =>
    times.reduce<Usual | undefined>((usual, ms, n) => accustomed(usual, ms, n * every), undefined)

  it('is learnt from the first attempts', () => {
    expect(learnt([100, 200, 300], 1)?.ms).toBeCloseTo(200)
  })

  it('follows a service that became faster soon, and one that became slower within ten minutes or so, however often it is asked', () => {
    const before = Array.from({ length: 50 }, () => 100)
    expect(learnt([...before, ...before.map(() => 10)], 1)?.ms).toBeLessThan(20)
    const slower = (every: number, span: number) =>
      learnt([...before, ...Array.from({ length: span / every }, () => 1_000)], every)?.ms ?? 0
    for (const every of [10, 1_000]) {
      expect(slower(every, 10_000)).toBeLessThan(150)
      expect(slower(every, 3_600_000)).toBeGreaterThan(900)
    }
  })
})
