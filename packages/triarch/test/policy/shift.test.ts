import { describe, expect, it } from 'vitest'
import { type BreakerState, newBreaker, PARTS, partOf, type WaveShare } from '../../src/policy/breaker.ts'
import { rebased, reparted } from '../../src/policy/shift.ts'

const rule = { window: 10_000 }
const NOW = 1_000_000
const SLACK = 5_000
const LONGEST_SILENCE = 1_200_000
const bucket = (part: number) => ({ part, answers: 2, ill: 1, slow: 0 })
const share = (until: number): WaveShare => ({ node: 'a', holds: 1, answers: 0, ill: 0, slow: 0, until })
const waving = (state: BreakerState, until: number): BreakerState => {
  return { ...state, wave: { number: 1, size: 2, shares: [share(until), share(NOW)] } }
}

describe('a window of another length', () => {
  it('has what the one before has, as of the beginning of each part', () => {
    const window = [bucket(0), bucket(1), bucket(2), bucket(3)]
    expect(reparted(window, rule, rule)).toBe(window)
    // Parts of 2 s instead of 1 s.
    expect(reparted(window, rule, { window: 20_000 })).toEqual([
      { part: 0, answers: 4, ill: 2, slow: 0 },
      { part: 1, answers: 4, ill: 2, slow: 0 },
    ])
    expect(reparted([bucket(3)], rule, { window: 5_000 })).toEqual([bucket(6)])
  })
})

describe('a breaker whose clock was put back', () => {
  const latest = partOf(rule, NOW) + PARTS

  it('is as it was where nothing of it lies ahead by more than clocks differ', () => {
    const state = { ...newBreaker(NOW + SLACK), until: NOW + 60_000, window: [bucket(latest)] }
    expect(rebased(state, rule, NOW)).toBe(state)
    const held = waving(state, NOW + LONGEST_SILENCE)
    expect(rebased(held, rule, NOW)).toBe(held)
  })

  it('began now, and is open for as long as it was to be', () => {
    const since = NOW + SLACK + 1
    const state: BreakerState = { ...newBreaker(since), phase: 'open', until: since + 30_000 }
    expect(rebased(state, rule, NOW)).toEqual({ ...state, since: NOW, until: NOW + 30_000 })
    expect(rebased({ ...state, until: null }, rule, NOW)).toMatchObject({ since: NOW, until: null, wave: null })
  })

  it('misses what a node holds for as long as it was to, and never for longer than a node may be silent', () => {
    const since = NOW + 3_600_000
    const state = newBreaker(since)
    expect(rebased(waving(state, since + 10_000), rule, NOW).wave?.shares).toEqual([
      share(NOW + 10_000),
      share(NOW - 3_600_000),
    ])
    expect(rebased(waving(state, since + LONGEST_SILENCE), rule, NOW).wave?.shares[0]?.until).toBe(
      NOW + LONGEST_SILENCE,
    )
    // Only the share lies ahead.
    const late = rebased(waving(newBreaker(NOW), NOW + LONGEST_SILENCE + 1), rule, NOW)
    expect(late.wave?.shares).toEqual([share(NOW + LONGEST_SILENCE), share(NOW)])
    expect(late.since).toBe(NOW)
  })

  it('forgets what it saw at instants that are yet to come', () => {
    const state = { ...newBreaker(NOW), window: [bucket(latest - 1), bucket(latest), bucket(latest + 1)] }
    expect(rebased(state, rule, NOW).window).toEqual([bucket(latest - 1), bucket(latest)])
  })
})
