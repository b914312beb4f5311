import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Duration, milliseconds, positiveMilliseconds } from '../../src/value/duration.ts'
import { raises } from './raises.ts'

describe('a duration', () => {
  it('is milliseconds, or a number with its unit', () => {
    const given: [Duration, number][] = [
      [0, 0],
      [250, 250],
      [0.4, 0],
      ['500ms', 500],
      ['30s', 30_000],
      ['1.5h', 5_400_000],
      ['1.1s', 1100],
      ['10m', 600_000],
      ['2d', 172_800_000],
      ['1w', 604_800_000],
    ]
    for (const [duration, ms] of given) expect(milliseconds(duration, 'x'), `${duration}`).toBe(ms)
    expect(Object.is(milliseconds(-0, 'x'), 0)).toBe(true)
  })

  it('of any other form is INVALID_DURATION, naming the option', () => {
    const wrong: unknown[] = ['', '5', 's', '5 s', '5y', '-5s', '1e3s', '٣s', '5s\n', 'Infinitys', '1..5s', '0x10s']
    wrong.push(-1, Number.NaN, Number.POSITIVE_INFINITY, null, undefined, {}, [], true, 5n, Symbol('s'), new Date(0))
    wrong.push('999999999999w', '11000d', 4e11)
    for (const duration of wrong) {
      const error = raises('INVALID_DURATION', () => milliseconds(duration as Duration, 'sleep'))
      expect(error.message).toMatch(/^sleep: /)
    }
  })

  it('of nothing is refused where time must pass', () => {
    raises('INVALID_DURATION', () => positiveMilliseconds('0s', 'x'))
    raises('INVALID_DURATION', () => positiveMilliseconds(0.1, 'x'))
    expect(positiveMilliseconds(1, 'x')).toBe(1)
  })

  it('is whole, or a typed error, whatever is given', () => {
    return fc.assert(
      fc.property(fc.oneof(fc.double(), fc.string(), fc.anything()), (value) => {
        try {
          expect(milliseconds(value as Duration, 'x')).toSatisfy(Number.isSafeInteger)
        } catch (error) {
          expect(error).toMatchObject({ code: 'INVALID_DURATION' })
        }
      }),
    )
  })
})
