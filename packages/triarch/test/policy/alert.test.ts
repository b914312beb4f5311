import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AlertSighting,
  type AlertState,
  type AlertStep,
  type AlertTerms,
  acknowledged,
  endedBy,
  sighted,
  silenced,
} from '../../src/policy/alert.ts'

const terms: AlertTerms = { for: 10, keep: 20, repeat: 100 }
const holds: AlertSighting = { found: 'holds', severity: 'warning', message: 'late' }
const gone: AlertSighting = { found: 'gone' }
const unknown: AlertSighting = { found: 'unknown' }
const ada = { by: 'ada', reason: 'on it' }

/** Looks at these times, from nothing or from what was before. */
function looks(sightings: readonly [at: number, sighting: AlertSighting][], from: AlertState | null = null) {
  let state = from
  const heard: string[] = []
  for (const [now, sighting] of sightings) {
    const step = sighted(state, sighting, terms, { now, id: `alert-${now}` })
    state = step.state
    if (step.news) heard.push(`${step.news} ${state?.id} ${now}`)
  }
  return { state, heard }
}

function firing(): AlertState {
  return looks([
    [0, holds],
    [10, holds],
  ]).state as AlertState
}

describe('an alert', () => {
  it('fires when its condition has held for long enough, and ends when it is gone for long enough', () => {
    const { state, heard } = looks([
      [0, holds],
      [9, holds],
      [10, holds],
      [11, holds],
      [12, gone],
      [31, gone],
      [32, gone],
    ])
    expect(heard).toEqual(['raised alert-0 10', 'ended alert-0 32'])
    expect(state).toMatchObject({ phase: 'ended', since: 0, firedAt: 10, goneAt: 12, ended: { at: 32, by: null } })
  })

  it('leaves nothing of a condition that did not hold for long enough', () => {
    const shortly = looks([
      [0, holds],
      [9, gone],
    ])
    expect(shortly).toEqual({ state: null, heard: [] })
  })

  it('is one while its condition comes and goes, and another one after it ended', () => {
    const coming = looks(
      [
        [20, gone],
        [39, holds],
        [50, gone],
        [69, holds],
      ],
      firing(),
    )
    expect(coming.heard).toEqual([])
    expect(coming.state).toMatchObject({ id: 'alert-0', phase: 'firing', goneAt: null })
    const later = looks(
      [
        [80, gone],
        [100, gone],
        [200, holds],
        [210, holds],
      ],
      coming.state,
    )
    expect(later.heard).toEqual(['ended alert-0 100', 'raised alert-200 210'])
  })

  it('neither fires nor ends by a look that could not be taken', () => {
    expect(looks([[0, unknown]])).toEqual({ state: null, heard: [] })
    const before = firing()
    expect(looks([[1_000, unknown]], before)).toEqual({ state: before, heard: [] })
    const blind = looks(
      [
        [20, gone],
        [30, unknown],
        [39, unknown],
      ],
      before,
    )
    expect(blind).toMatchObject({ heard: [], state: { phase: 'firing', goneAt: 20 } })
  })

  it('is told of again while nobody owns it, by the same id', () => {
    const again = looks(
      [
        [109, holds],
        [110, holds],
        [111, holds],
        [210, holds],
      ],
      firing(),
    )
    expect(again.heard).toEqual(['repeated alert-0 110', 'repeated alert-0 210'])
    const owned = acknowledged(firing(), { ...ada, at: 50 })
    expect(
      looks(
        [
          [110, holds],
          [500, holds],
          [501, gone],
          [521, gone],
        ],
        owned,
      ).heard,
    ).toEqual(['ended alert-0 521'])
  })

  it('is not told of while it is silenced, and is when that is over', () => {
    const pending = looks([[0, holds]]).state as AlertState
    const silent = silenced(pending, { ...ada, at: 5, until: 50 })
    expect(
      looks(
        [
          [10, holds],
          [49, holds],
          [50, holds],
        ],
        silent,
      ).heard,
    ).toEqual(['raised alert-0 50'])
    expect(
      looks(
        [
          [10, holds],
          [20, gone],
          [40, gone],
        ],
        silent,
      ),
    ).toMatchObject({ heard: [], state: { phase: 'ended' } })
  })

  it('that was ended by hand opens anew only after its condition was gone', () => {
    const { state, news } = endedBy(firing(), { ...ada, at: 15 }) as AlertStep
    expect(news).toBe('ended')
    const held = looks(
      [
        [20, holds],
        [1_000, holds],
      ],
      state,
    )
    expect(held).toMatchObject({ heard: [], state: { id: 'alert-0', phase: 'ended', ended: { by: { by: 'ada' } } } })
    const anew = looks(
      [
        [1_001, gone],
        [1_002, holds],
        [1_012, holds],
      ],
      held.state,
    )
    expect(anew.heard).toEqual(['raised alert-1002 1012'])
  })

  it('that ended has no owner, no silence and no second end', () => {
    const { state } = endedBy(firing(), { ...ada, at: 15 }) as AlertStep
    const over = state as AlertState
    expect(acknowledged(over, { ...ada, at: 16 })).toBeNull()
    expect(silenced(over, { ...ada, at: 16, until: 99 })).toBeNull()
    expect(endedBy(over, { ...ada, at: 16 })).toBeNull()
  })

  it('whatever is seen and done: is raised once, ends once for those who know of it, and never early', () => {
    const act = fc.oneof(
      fc.constantFrom<AlertSighting>(holds, holds, gone, unknown),
      fc.constantFrom('own' as const, 'silence' as const, 'end' as const),
    )
    void fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 15 }), act), { maxLength: 60 }), (acts) => {
        let now = 0
        let state: AlertState | null = null
        let heldSince: number | null = null
        const heard = new Map<string, string[]>()
        for (const [wait, what] of acts) {
          now += wait
          const was: AlertState | null = state
          let news: AlertStep['news'] = null
          if (what === 'own') state = (was && acknowledged(was, { ...ada, at: now })) ?? was
          else if (what === 'silence') state = (was && silenced(was, { ...ada, at: now, until: now + 30 })) ?? was
          else {
            if (what !== 'end' && what.found === 'holds') heldSince ??= now
            if (what !== 'end' && what.found === 'gone') heldSince = null
            const step: AlertStep | null =
              what === 'end'
                ? was && endedBy(was, { ...ada, at: now })
                : sighted(was, what, terms, { now, id: `${now}` })
            if (step) ({ state, news } = step)
          }
          if (was && state && was.phase !== 'ended') expect(state.id).toBe(was.id)
          if (state?.firedAt === now) expect(now - (heldSince ?? now)).toBeGreaterThanOrEqual(terms.for)
          if (news === null) continue
          const { id, silence } = state as unknown as AlertState
          if (news !== 'ended') expect(silence === null || now >= silence.until).toBe(true)
          heard.set(id, [...(heard.get(id) ?? []), news])
        }
        for (const told of heard.values()) expect(told.join(' ')).toMatch(/^raised( repeated)*( ended)?$/)
      }),
    )
  })
})
