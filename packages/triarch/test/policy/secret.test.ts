import { describe, expect, it } from 'vitest'
import { holding, SETTLE, type Secret, signing } from '../../src/policy/secret.ts'

const secret = (number: number, madeAt: number, overlapsUntil: number | null): Secret => {
  return { number, madeAt, overlapsUntil }
}
const numbers = (secrets: readonly Secret[], now: number) => holding(secrets, now).map(({ number }) => number)

describe('secrets that sign tokens', () => {
  it('hold until the overlap of one that came after them is over', () => {
    const [third, second, first] = [secret(3, 300, 500), secret(2, 200, 400), secret(1, 100, null)]
    const all = [third, second, first]
    expect(numbers(all, 399)).toEqual([3, 2, 1])
    expect(numbers(all, 400)).toEqual([3, 2])
    expect(numbers(all, 499)).toEqual([3, 2])
    expect(numbers(all, 500)).toEqual([3])
    expect(numbers([], 500)).toEqual([])
  })

  it('without an end of their overlap let all before them hold', () => {
    expect(numbers([secret(2, 200, null), secret(1, 100, null)], 1e12)).toEqual([2, 1])
  })

  it('hold no longer than one that came later lets them, whatever the next one says', () => {
    // The newest ends all before it at 300, though the one before it would have let them hold for longer.
    expect(numbers([secret(3, 200, 300), secret(2, 150, 900), secret(1, 100, null)], 300)).toEqual([3])
  })

  it('sign once every process has read them: until then the one before does', () => {
    const [newest, before] = [secret(2, 1_000, null), secret(1, 0, null)]
    expect(signing([newest, before], 1_000 + SETTLE - 1)).toBe(before)
    expect(signing([newest, before], 1_000 + SETTLE)).toBe(newest)
    expect(signing([newest], 1_000)).toBe(newest)
    expect(signing([], 1_000)).toBe(undefined)
  })
})
