import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  freeAt,
  gap,
  hasBegun,
  isVoid,
  LONGEST_REST,
  living,
  NEW_RATE,
  type RateRule,
  type RateState,
  reservableAt,
  reserve as reserveRuns,
  restarted,
  rested,
  ruleNow,
  tolerance,
  type Wants,
} from '../../src/policy/rate.ts'

const rule: RateRule = { limit: 10, per: 1_000, burst: 3 }
const NOW = 1_000_000

/** What is reserved, one by one. */
function reserve(state: RateState, of: RateRule, now: number, wants: number | Wants, lag: number) {
  const asked = typeof wants === 'number' ? { needs: wants, likes: 0 } : wants
  const { runs, ...rest } = reserveRuns(state, of, now, asked, lag)
  const instants = runs.flatMap(({ first, every, count }) => Array.from({ length: count }, (_, n) => first + n * every))
  return { ...rest, instants }
}

/** Once in ten times. */
function seldom<T>(what: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: what })
}

/** What is asked for later. */
function later(each: number | null, now: number): Pick<Wants, 'ahead'> {
  return each === null ? {} : { ahead: { likes: 3, each, after: now } }
}

/** How near two of them come to each other. */
function nearest(instants: readonly number[]): number {
  const sorted = instants.toSorted((a, b) => a - b)
  return Math.min(...sorted.slice(1).map((it, index) => it - (sorted[index] as number)))
}

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
      likes: fc.nat(30),
      each: seldom(fc.integer({ min: 20, max: 200 })),
      uses: fc.nat(30),
      rest: seldom(fc.nat(600)),
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
        for (const { node, wait, wants, likes, each, uses, rest, dies } of words) {
          time += wait
          // Each node's clock is behind by up to what it takes it to be.
          const lag = lags[node] as number
          const now = time - lag
          if (rest !== null) state = rested(state, now + rest)
          const got = reserve(state, drawn, now, { needs: wants, likes, ...later(each, now) }, lag)
          state = got.state
          own[node]?.push(...got.instants)
          if (dies) own[node] = []
          for (let n = 0; n < uses; n++) {
            const index = own[node]?.findIndex((instant) => hasBegun(instant, drawn, now, lag)) ?? -1
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

  it('is what an operator says instead of its own, as long as that lasts', () => {
    const other = { ...rule, limit: 1 }
    expect(ruleNow(rule, undefined, NOW)).toBe(rule)
    expect(ruleNow(rule, { rule: other, until: null }, NOW)).toBe(other)
    expect(ruleNow(rule, { rule: other, until: NOW + 1 }, NOW)).toBe(other)
    expect(ruleNow(rule, { rule: other, until: NOW }, NOW)).toBe(rule)
    expect(ruleNow(rule, { rule: null, until: null }, NOW).limit).toBeGreaterThan(100_000)
  })

  it('is the same state where nothing is asked for, nor changed', () => {
    const state = { next: NOW, rests: 5, spare: { next: NOW, spans: [[NOW - 200, NOW - 100] as const] } }
    const none = { needs: 0, likes: 0 }
    expect(reserveRuns(state, rule, NOW, none, 0)).toEqual({ state, runs: [] })
    // Of what is so little a quarter is nothing.
    expect(reserveRuns(state, rule, NOW, { ...none, ahead: { likes: 3, each: 100, after: NOW } }, 0).runs).toEqual([])
    expect(rested(state, 5)).toBe(state)
    const latest = { next: NOW + 600, rests: 0, spare: { next: NOW + 600, spans: [] } }
    expect(restarted(latest, rule, NOW, 0)).toBe(latest)
  })

  it('gives exactly as many as are needed, wherever they lie', () => {
    const wide = { ...rule, burst: 10 }
    const behind = { next: NOW - 100, rests: 0, spare: { next: NOW - 100, spans: [[NOW - 500, NOW - 400] as const] } }
    expect(reserve(behind, wide, NOW, 1, 0).instants).toHaveLength(1)
    const before = { next: NOW + 400, rests: 0, spare: { next: NOW + 400, spans: [[NOW + 200, NOW + 300] as const] } }
    expect(reserve(before, wide, NOW, 1, 0).instants).toEqual([NOW + 200])
  })

  it('leaves nothing out where all that lies back is taken', () => {
    expect(reserve({ next: NOW - 100, rests: 0 }, rule, NOW, 2, 0).state).toEqual({ next: NOW + 100, rests: 0 })
  })

  it('gives what lies back as it is found, if that lasts for three quarters of what any does', () => {
    const wide = { ...rule, burst: 10 }
    expect(reserve({ next: NOW - 250, rests: 0 }, wide, NOW, 1, 0).instants).toEqual([NOW - 250])
    expect(reserve({ next: NOW - 251, rests: 0 }, wide, NOW, 1, 0).instants).toEqual([NOW - 51])
  })

  it('gives a whole burst but for one at once after a lull, however large it is', () => {
    const instants = reserve(NEW_RATE, { ...rule, burst: 8 }, NOW, 100, 0).instants
    expect(instants.filter((it) => it <= NOW)).toHaveLength(8)
  })

  it('gives some for later where nothing lies back, and also beside as many spans as are left out', () => {
    const fast = { limit: 1_000, per: 1_000, burst: 100 }
    const wants = { needs: 0, likes: 0, ahead: { likes: 5, each: 100, after: NOW } }
    expect(reserve({ next: NOW, rests: 0 }, fast, NOW, wants, 0).instants).toContain(NOW + 100)
    const next = NOW + 300
    const spans = (count: number) => {
      return Array.from({ length: count }, (_, n) => [NOW + 10 * n, NOW + 10 * n + 2] as const)
    }
    const beside = (count: number) => {
      return reserve({ next, rests: 0, spare: { next, spans: spans(count) } }, fast, NOW, wants, 0).instants.length
    }
    expect(beside(23)).toBeGreaterThan(0)
    expect(beside(24)).toBe(0)
  })

  it('takes the latest instant that may be reserved for no absurd one', () => {
    const { until } = living(rule, NOW, 0)
    expect([isVoid(until, rule, NOW, 0), isVoid(until + 0.001, rule, NOW, 0)]).toEqual([false, true])
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

  it('gives no instant twice, whoever asks for how many, whatever is left out, asked to rest, restarted or set back', () => {
    const word = fc.record({
      wait: fc.oneof(fc.nat(20), fc.nat(300)),
      needs: fc.nat(6),
      likes: fc.nat(40),
      each: fc.option(fc.integer({ min: 20, max: 200 })),
      rest: seldom(fc.nat(600)),
      back: seldom(fc.nat(900)),
      restarts: seldom(fc.constant(true)),
    })
    const rules = fc.record({ limit: fc.constantFrom(7, 30, 1_000), burst: fc.integer({ min: 1, max: 300 }) })
    void fc.assert(
      fc.property(rules, fc.array(word, { maxLength: 60 }), ({ limit, burst }, words) => {
        const drawn = { limit, per: 1_000, burst }
        let state: RateState = NEW_RATE
        let now = NOW
        let given: number[] = []
        for (const { wait, needs, likes, each, rest, back, restarts } of words) {
          now += wait
          if (rest !== null) state = rested(state, now + rest)
          if (back !== null) {
            now -= back
            // Nodes forget what lies further ahead than any could reserve.
            given = given.filter((it) => !isVoid(it, drawn, now, 1))
          }
          if (restarts) state = restarted(state, drawn, now, 1)
          const got = reserve(state, drawn, now, { needs, likes, ...later(each, now) }, 1)
          state = got.state
          for (const it of got.instants) expect(it).toBeGreaterThanOrEqual(state.rests)
          for (const it of got.instants) expect(isVoid(it, drawn, now, 0)).toBe(false)
          given.push(...got.instants)
        }
        expect(nearest(given)).toBeGreaterThan(gap(drawn) - 0.01)
      }),
      { numRuns: 300 },
    )
  })

  it('gives no instant that is void at once, where thirds of seconds add up to the very end of what may be reserved', () => {
    const thirds: RateRule = { limit: 30, per: 1_000, burst: 1 }
    let state = reserve(NEW_RATE, thirds, NOW, 1, 1).state
    for (let given = 1; given < 1_000; given++) {
      const now = NOW + (given * 1_000) / 30 - 500
      const got = reserve(state, thirds, now, 1, 1)
      state = got.state
      expect(got.instants.map((it) => isVoid(it, thirds, now, 0))).toEqual([false])
    }
  })

  it('keeps what was left out for a burst: all that is not void can be used at once', () => {
    const asks = fc.array(
      fc.record({
        wait: fc.nat(60),
        needs: fc.nat(3),
        likes: fc.nat(40),
        each: fc.option(fc.integer({ min: 20, max: 200 })),
      }),
      { maxLength: 40 },
    )
    const rules = fc.record({ limit: fc.constantFrom(7, 100, 1_000), share: fc.integer({ min: 1, max: 10 }) })
    void fc.assert(
      fc.property(rules, asks, ({ limit, share }, words) => {
        const drawn = { limit, per: 1_000, burst: Math.max(Math.ceil(limit / 10), Math.floor(limit / share)) }
        let state: RateState = NEW_RATE
        let now = NOW
        const given: number[] = []
        for (const { wait, needs, likes, each } of [...words, { wait: 1, needs: 10_000, likes: 0, each: null }]) {
          now += wait
          const got = reserve(state, drawn, now, { needs, likes, ...later(each, now) }, 1)
          state = got.state
          given.push(...got.instants)
        }
        const back = given.filter((it) => it <= now && hasBegun(it, drawn, now, 25)).toSorted((a, b) => a - b)
        const widest = Math.max(0, ...back.slice(1).map((it, index) => it - (back[index] as number)))
        expect(widest).toBeLessThan(2 * gap(drawn))
        expect(back.length).toBeGreaterThan(((tolerance(drawn) - 25) * 0.7) / gap(drawn) - 2)
        expect(state.spare).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })

  const idle: RateRule = { limit: 10_000, per: 1_000, burst: 1_000 }

  it('gives a node of what lies back that which lasts, and more than it needs, so that it need not ask again soon', () => {
    const { instants } = reserve(NEW_RATE, idle, NOW, { needs: 2, likes: 100 }, 1)
    expect(instants).toHaveLength(100)
    expect(instants.every((it) => hasBegun(it, idle, NOW, 1) && hasBegun(it, idle, NOW + 70, 1))).toBe(true)
    // Where little would go by unused it gives what is needed alone.
    const { state } = reserve(NEW_RATE, idle, NOW, 1_000, 1)
    expect(reserve(state, idle, NOW + 1, { needs: 2, likes: 100 }, 1).instants).toHaveLength(2)
  })

  it('gives a node some for later, far from each other, so that it need not ask for a while, and leaves the rest to others', () => {
    const ahead = { likes: 10, each: 50, after: NOW }
    const { state, instants } = reserve(NEW_RATE, idle, NOW, { needs: 0, likes: 10, ahead }, 1)
    for (let at = NOW; at <= NOW + 500; at += 10)
      expect(instants.filter((it) => hasBegun(it, idle, at, 1)).length).toBeGreaterThanOrEqual(10)
    expect(reserve(state, idle, NOW, 500, 1).instants.filter((it) => it <= NOW)).toHaveLength(500)
    // Where each has what it needs alone there is nothing for later.
    const none = { needs: 0, likes: 0, ahead: { ...ahead, likes: 1_000_000 } }
    expect(reserve(NEW_RATE, rule, NOW, none, 1).instants).toEqual([])
  })

  it('leaves few spans out, however often and however many nodes ask', () => {
    let [now, later]: RateState[] = [NEW_RATE, NEW_RATE]
    let given = 0
    for (let at = NOW; at < NOW + 1_000; at++) {
      now = reserve(now as RateState, idle, at, { needs: 3, likes: 20 }, 1).state
      expect(now.spare?.spans.length ?? 0).toBeLessThanOrEqual(5)
      const ahead = { likes: 3, each: 7, after: at }
      const got = reserve(later as RateState, idle, at, { needs: 3, likes: 20, ahead }, 1)
      later = got.state
      expect(later.spare?.spans.length ?? 0).toBeLessThanOrEqual(32)
      expect(JSON.stringify(later).length).toBeLessThan(1_500)
      given += got.instants.length
    }
    expect(given).toBeGreaterThan(3_000)
  })

  it('leaves nothing out that was left out beside another instant: by another clock, or code that does not know of it', () => {
    const { state } = reserve(NEW_RATE, idle, NOW, 10, 1)
    expect(state.spare).toBeDefined()
    expect(freeAt(state)).toBeLessThan(state.next)
    const older = { ...state, next: state.next + 5 }
    expect(freeAt(older)).toBe(older.next)
    expect(Math.min(...reserve(older, idle, NOW, 10_000, 1).instants)).toBe(older.next)
    expect(restarted(state, idle, NOW - 10_000, 1).spare).toBeUndefined()
  })

  it('lets a burst begin at once after a lull, and no more', () => {
    const { instants } = reserve(NEW_RATE, rule, NOW, 100, 1)
    expect(instants.filter((instant) => hasBegun(instant, rule, NOW, 1))).toHaveLength(rule.burst)
  })

  it('gives an attempt time to begin, also where writing takes long beside an answer of the clock', () => {
    // A high rate forgets soon: of what comes in 100 ms, the oldest would be over before it is written.
    const high: RateRule = { limit: 10_000, per: 1_000, burst: 1_000 }
    const { instants } = reserve(NEW_RATE, high, NOW, 8, 0.1)
    expect(instants).toHaveLength(8)
    for (const instant of instants) expect(hasBegun(instant, high, NOW + 20, 0.1)).toBe(true)
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
    expect(hasBegun(NOW, rule, NOW, tolerance(rule))).toBe(false)
    expect(
      reserve(NEW_RATE, rule, NOW, 10, Number.POSITIVE_INFINITY).instants.some((it) =>
        hasBegun(it, rule, NOW, Number.POSITIVE_INFINITY),
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
