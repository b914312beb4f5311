import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReservedInstants } from '../../src/flow/reserved-instants.ts'

const EVERY = 3

describe('the instants of a node', () => {
  it('are what was added, less what was taken or is void, oldest first, whatever comes in which order', () => {
    const word = fc.oneof(
      fc.record({ does: fc.constant('add' as const), at: fc.nat(40), count: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ does: fc.constant('put' as const), at: fc.nat(40) }),
      fc.record({ does: fc.constant('take' as const) }),
      fc.record({ does: fc.constant('keep' as const), at: fc.nat(300), span: fc.nat(400) }),
    )
    void fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), fc.nat(800), (words, now) => {
        const instants = new ReservedInstants()
        let model: number[] = []
        // What is reserved has a place of its own.
        const used = new Set<number>()
        const free = (at: number, count: number) => {
          const places = Array.from({ length: count }, (_, n) => at * 6 + n)
          if (places.some((place) => used.has(place))) return []
          for (const place of places) used.add(place)
          return places.map((place) => place * EVERY)
        }
        for (const it of words) {
          if (it.does === 'take') {
            expect(instants.take()?.instant).toBe(model.shift())
          } else if (it.does === 'keep') {
            const kept = { after: it.at, until: it.at + it.span }
            instants.keep(kept)
            model = model.filter((instant) => instant > kept.after && instant <= kept.until)
          } else {
            const added = free(it.at, it.does === 'add' ? it.count : 1)
            const [first] = added
            if (first === undefined) continue
            if (it.does === 'add') instants.add([{ first, every: EVERY, count: added.length }])
            else instants.put(first, EVERY)
            model = [...model, ...added].toSorted((a, b) => a - b)
          }
          expect(instants.count).toBe(model.length)
          expect(instants.upTo(now)).toBe(model.filter((instant) => instant <= now).length)
          expect(instants.after(now)).toBe(model.find((instant) => instant > now))
        }
      }),
    )
  })
})
