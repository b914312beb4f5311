import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AnswerCounts,
  type BreakerRule,
  type BreakerState,
  forceClosed,
  forceOpen,
  givenOf,
  hear,
  isClosed,
  isShut,
  NO_ANSWERS,
  newBreaker,
  noted,
  partOf,
  type Report,
  reset,
  seenOf,
  totalOf,
} from '../../src/policy/breaker.ts'

const rule: BreakerRule = {
  ...{ failureRate: 0.5, slowRate: null, slowerThan: null, window: 10_000, minimum: 4 },
  ...{ open: 1_000, openMax: 8_000, probes: 3 },
}
const silent: Report = { node: 'a', seen: [], share: null, wants: 0, lease: 5_000, waiting: true }

function seen(at: number, good: number, ill: number): Report {
  return { ...silent, seen: [{ part: partOf(rule, at), answers: good + ill, ill, slow: 0 }] }
}

function told(state: BreakerState, report: Partial<Report>, now: number, draw = 1): BreakerState {
  return hear(state, rule, { ...silent, ...report }, now, draw).state
}

const open = told(newBreaker(0), seen(100, 0, 4), 100)
/** Its answers to all of the wave. */
function wave(state: BreakerState, part: Partial<AnswerCounts> = {}, now = 2_000): BreakerState {
  const { number = 0, size = 0 } = state.wave ?? {}
  return told(state, { share: { wave: number, holds: 0, answers: size, ill: 0, slow: 0, ...part } }, now)
}
const probing = told(open, { wants: 100 }, 1_100)

describe('a closed breaker', () => {
  it('opens at its rate, and not before its minimum', () => {
    expect(told(newBreaker(0), seen(100, 0, 3), 100).phase).toBe('closed')
    expect(told(newBreaker(0), seen(100, 3, 2), 100).phase).toBe('closed')
    expect(told(newBreaker(0), seen(100, 2, 2), 100)).toMatchObject({ phase: 'open', since: 100, until: 1_100 })
  })

  it('adds up what all nodes saw', () => {
    const first = told(newBreaker(0), seen(100, 1, 1), 100)
    const both = told(first, { ...seen(200, 0, 2), node: 'b' }, 200)
    expect(both).toMatchObject({ phase: 'open', moves: [{ by: 'b', reason: '3 of 4 answers ill' }] })
  })

  it('forgets what has left its window', () => {
    const early = told(newBreaker(0), seen(100, 0, 3), 100)
    const later = told(early, seen(10_100, 0, 1), 10_100)
    expect(totalOf(later, rule, 10_100)).toEqual({ answers: 1, ill: 1, slow: 0 })
    expect(later.phase).toBe('closed')
  })

  it('is the same as long as a node has nothing to say of what it saw', () => {
    const state = told(newBreaker(0), seen(100, 0, 3), 100)
    expect(told(state, silent, 50_000)).toBe(state)
    expect(told(open, seen(200, 4, 0), 200)).toBe(open)
  })

  it('has each answer in the part of the window in which it came', () => {
    const one = { answers: 1, ill: 1, slow: 0 }
    const first = noted([], 3, one)
    expect(first).toEqual([{ part: 3, ...one }])
    expect(noted(first, 3, { ...one, ill: 0 })).toEqual([{ part: 3, answers: 2, ill: 1, slow: 0 }])
    expect(noted(first, 5, one)).toEqual([...first, { part: 5, ...one }])
    // One that comes late.
    expect(noted(first, 2, one)).toEqual([{ part: 2, ...one }, ...first])
  })

  it('minds slow answers when it is told to', () => {
    const slow = { ...rule, slowRate: 0.5, slowerThan: 100 }
    const answers = [
      seenOf(slow, false, 99),
      seenOf(slow, false, 100),
      seenOf(slow, false, 500),
      seenOf(rule, false, 9e9),
    ]
    expect(answers.map((it) => it.slow)).toEqual([0, 1, 1, 0])
    const report = { ...silent, seen: answers.map((it) => ({ part: 0, ...it })) }
    expect(hear(newBreaker(0), slow, report, 100, 0).state.phase).toBe('open')
    expect(hear(newBreaker(0), rule, report, 100, 0).state.phase).toBe('closed')
  })
})

describe('an open breaker', () => {
  it('gives no pass before its time, and then as many as it has probes, to all nodes together', () => {
    expect(hear(open, rule, { ...silent, wants: 9 }, 1_099, 0).passes).toBe(0)
    const first = hear(open, rule, { ...silent, wants: 2 }, 1_100, 0)
    expect([first.passes, first.state.phase]).toEqual([2, 'half-open'])
    const share = { ...NO_ANSWERS, wave: 1, holds: 2 }
    const second = hear(first.state, rule, { ...silent, node: 'b', wants: 9 }, 1_100, 0)
    expect(second.passes).toBe(1)
    expect(hear(second.state, rule, { ...silent, share, wants: 9 }, 1_100, 0).passes).toBe(0)
  })

  it('gives none while nobody waits', () => {
    const { state, passes } = hear(open, rule, { ...silent, wants: 9, waiting: false }, 1_100, 0)
    expect([state, passes]).toEqual([open, 0])
  })

  it('is open for longer each time, up to its most, drawn from the upper quarter', () => {
    const spans: number[] = []
    let state = newBreaker(0)
    let now = 0
    for (let round = 0; round < 6; round++) {
      state = round === 0 ? told(state, seen(now, 0, 4), now) : wave(told(state, { wants: 9 }, now), { ill: 1 }, now)
      spans.push((state.until ?? 0) - now)
      now = state.until ?? 0
    }
    expect(spans).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000])
    expect(told(newBreaker(0), seen(0, 0, 4), 0, 0).until).toBe(750)
  })

  it('by an operator stays open until its instant, or until it is closed', () => {
    const word = { at: 50, by: 'ada', reason: 'maintenance' }
    const timed = forceOpen(newBreaker(0), 9_000, word)
    expect([isShut(timed, 8_999), isShut(timed, 9_000)]).toEqual([true, false])
    expect(timed.moves).toEqual([{ ...word, from: 'closed', to: 'open' }])
    expect(isShut(forceOpen(newBreaker(0), null, word), 1e15)).toBe(true)
  })
})

describe('a half-open breaker', () => {
  it('opens again at one ill answer, and releases what waits when all are well', () => {
    expect(wave(probing, { answers: 1, ill: 1 }).phase).toBe('open')
    expect(wave(probing, { answers: 2 }).phase).toBe('half-open')
    expect(wave(probing)).toMatchObject({ phase: 'releasing', wave: { size: 6 } })
  })

  it('closes when nobody waits any more', () => {
    const share = { wave: 1, holds: 0, answers: 3, ill: 0, slow: 0 }
    expect(told(probing, { share, waiting: false }, 2_000)).toMatchObject({ phase: 'closed', streak: 0, wave: null })
  })

  it('takes a probe of which nothing is heard for ill', () => {
    const other = { node: 'b' }
    expect(told(probing, other, 6_099).phase).toBe('half-open')
    expect(told(probing, other, 6_100).phase).toBe('open')
  })

  it('waits for a node that lives for as long as its probes take', () => {
    const share = { ...NO_ANSWERS, wave: 1, holds: 3 }
    const later = told(told(probing, { share }, 4_000), { node: 'b' }, 8_000)
    expect(later.phase).toBe('half-open')
  })

  it('knows how many passes each node has', () => {
    const first = told(open, { wants: 1 }, 1_100)
    const both = told(first, { node: 'b', wants: 2 }, 1_200)
    expect(both.wave?.shares.map(({ node, holds }) => [node, holds])).toEqual([
      ['a', 1],
      ['b', 2],
    ])
  })

  it('takes the word of a node for a promise of another lease once half of it is over, and only while it has passes', () => {
    const until = (holds: number, at: number) => {
      const state = told(open, { wants: 3 }, 1_100)
      const share = { ...NO_ANSWERS, wave: state.wave?.number ?? 0, holds }
      return told(state, { share, waiting: false }, at).wave?.shares[0]?.until
    }
    expect(until(3, 3_600)).toBe(6_100)
    expect(until(3, 3_601)).toBe(8_601)
    expect(until(0, 3_601)).toBe(6_100)
  })

  it('says how many probes were answered', () => {
    const one = { ...rule, probes: 1 }
    const answers = (of: BreakerRule) => {
      const state = hear(open, of, { ...silent, wants: 9 }, 1_100, 0).state
      const share = { ...NO_ANSWERS, wave: state.wave?.number ?? 0, holds: 0, answers: of.probes }
      return hear(state, of, { ...silent, share }, 1_200, 0).state.moves.at(-1)?.reason
    }
    expect([answers(one), answers(rule)]).toEqual(['1 probe was answered', '3 probes were answered'])
  })

  it('gives a pass that nobody used to somebody else', () => {
    const back = told(probing, { share: { ...NO_ANSWERS, wave: 1, holds: 1 } }, 1_200)
    expect(hear(back, rule, { ...silent, node: 'b', wants: 9 }, 1_300, 0).passes).toBe(2)
  })

  it('heeds nothing that is said of an earlier wave', () => {
    const again = told(wave(probing, { ill: 1 }), { wants: 9 }, 9_000)
    expect(told(again, { share: { wave: 1, holds: 0, answers: 3, ill: 3, slow: 0 } }, 9_001).phase).toBe('half-open')
  })
})

describe('a releasing breaker', () => {
  const releasing = wave(probing)

  it('lets each wave be twice the one before, once that was answered', () => {
    let state = releasing
    const sizes: number[] = []
    for (let now = 3_000; state.wave; now += 10) {
      sizes.push(state.wave.size)
      state = wave(told(state, { wants: 5_000 }, now), {}, now)
    }
    expect(sizes).toEqual([6, 12, 24, 48, 96, 192, 384, 768, 1_536])
    expect(state).toMatchObject({ phase: 'closed', streak: 0 })
  })

  it('opens again when the rest of the wave could not make up for it', () => {
    const out = told(releasing, { wants: 9 }, 3_000)
    expect(wave(out, { answers: 4, ill: 2 }, 3_100).phase).toBe('releasing')
    expect(wave(out, { answers: 4, ill: 3 }, 3_100)).toMatchObject({ phase: 'open', streak: 2 })
  })

  it('does not close while a node has a pass, though nothing waits', () => {
    const state = forceClosed(open, { probes: 2 }, { at: 200, by: 'ada', reason: 'a test' })
    const given = told(told(state, { wants: 2 }, 300), { node: 'b', wants: 1 }, 300)
    const share = { ...NO_ANSWERS, wave: given.wave?.number ?? 0, holds: 0, answers: 2 }
    const answered = told(given, { share, waiting: false }, 400)
    expect(answered.phase).toBe('releasing')
    expect(told(answered, { node: 'b', share: { ...share, answers: 1 }, waiting: false }, 500).phase).toBe('closed')
  })

  it('closes when a wave of a thousand was answered, and lets all go', () => {
    const after = (probes: number) => {
      const state = forceClosed(open, { probes }, { at: 200, by: 'ada', reason: 'a test' })
      return wave(told(state, { wants: 5_000 }, 300), {}, 400)
    }
    expect(after(499)).toMatchObject({ phase: 'releasing', wave: { size: 1_996 } })
    expect(after(500)).toMatchObject({
      phase: 'closed',
      moves: expect.arrayContaining([expect.objectContaining({ reason: 'what waited went out' })]),
    })
  })

  it('closes when nothing waits and nothing is out', () => {
    expect(told(releasing, { waiting: false }, 3_000).phase).toBe('closed')
  })
})

describe('an operator', () => {
  const word = { at: 5_000, by: 'ada', reason: 'mended' }

  it('closes it into waves, so that what waits does not go out at once', () => {
    expect(forceClosed(open, rule, word)).toMatchObject({ phase: 'releasing', streak: 1, wave: { size: 6 } })
    expect(forceClosed(newBreaker(0), rule, word)).toEqual(newBreaker(0))
  })

  it('makes it forget what it has seen', () => {
    const some = told(newBreaker(0), seen(100, 0, 3), 100)
    expect(reset(some, rule, word)).toMatchObject({ phase: 'closed', window: [], moves: [word] })
    expect(reset(open, rule, word)).toMatchObject({ phase: 'releasing', streak: 0 })
  })
})

/** What nodes may do, one after the other. */
const acts = fc.array(
  fc.record({
    node: fc.constantFrom('a', 'b', 'c'),
    act: fc.constantFrom('good' as const, 'ill' as const, 'want' as const, 'back' as const, 'die' as const),
    count: fc.integer({ min: 1, max: 5 }),
    ms: fc.integer({ min: 0, max: 2_000 }),
    heard: fc.boolean(),
    waiting: fc.boolean(),
    draw: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  }),
  { maxLength: 120 },
)

it('whatever nodes say, twice or not at all, no wave has more passes than its size, and each can close', () => {
  return fc.assert(
    fc.property(acts, (all) => {
      const own = new Map<string, AnswerCounts & { wave: number; holds: number }>()
      let state = newBreaker(0)
      let now = 0
      /** Attempts that were answered, and how many there may be, by wave. */
      const answered = new Map<number, number>()
      const sizes = new Map<number, number>()
      for (const { node, act, count, ms, heard, waiting, draw } of all) {
        now += ms
        const { wave } = state
        let share = own.get(node) ?? null
        if (share && share.wave !== wave?.number) share = null
        if (act === 'die') {
          own.delete(node)
          continue
        }
        if (share && (act === 'good' || act === 'ill' || act === 'back')) {
          const some = Math.min(share.holds, count)
          const answers = act === 'back' ? 0 : some
          answered.set(share.wave, (answered.get(share.wave) ?? 0) + answers)
          share = {
            ...share,
            holds: share.holds - some,
            answers: share.answers + answers,
            ill: share.ill + (act === 'ill' ? some : 0),
          }
        }
        const isSeen = isClosed(state) && (act === 'good' || act === 'ill')
        const bucket = { part: partOf(rule, now), answers: count, ill: act === 'ill' ? count : 0, slow: 0 }
        const wants = act === 'want' ? count : 0
        const report: Report = { node, seen: isSeen ? [bucket] : [], share, wants, lease: 3_000, waiting }
        const before = state
        const next = hear(state, rule, report, now, draw)
        state = next.state
        if (state.wave) sizes.set(state.wave.number, state.wave.size)
        if (state.wave) expect(givenOf(state.wave)).toBeLessThanOrEqual(state.wave.size)
        if (isShut(before, now)) expect(next.passes).toBe(0)
        if (before.phase !== state.phase) expect(state.moves.at(-1)).toMatchObject({ at: now, to: state.phase })
        // An answer that is not heard costs the node what it was given.
        const kept = share && share.wave === state.wave?.number ? share : null
        const holds = (kept?.holds ?? 0) + (heard ? next.passes : 0)
        if (state.wave) own.set(node, { ...(kept ?? NO_ANSWERS), wave: state.wave.number, holds })
        else own.delete(node)
      }
      for (const [wave, count] of answered) expect(count).toBeLessThanOrEqual(sizes.get(wave) ?? 0)
      // Wherever it came to: once the service is well and a node goes on, it closes.
      for (let round = 0; round < 200 && !isClosed(state); round++) {
        now = Math.max(now + 3_001, state.until ?? 0)
        const asked = hear(state, rule, { ...silent, node: 'z', wants: 10_000 }, now, 0.5)
        state = asked.state
        if (!state.wave) continue
        const mine = state.wave.shares.find((it) => it.node === 'z')
        const share = {
          ...NO_ANSWERS,
          wave: state.wave.number,
          holds: 0,
          answers: (mine?.holds ?? 0) + (mine?.answers ?? 0),
        }
        state = hear(state, rule, { ...silent, node: 'z', share, waiting: round < 5 }, now, 0.5).state
      }
      expect(state.phase).toBe('closed')
    }),
    { numRuns: 300, seed: 1 },
  )
})
