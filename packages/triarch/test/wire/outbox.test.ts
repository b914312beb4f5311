import { describe, expect, it } from 'vitest'
import { Outbox } from '../../src/wire/outbox.ts'

/** With so many acknowledgements, each of that size. */
function outbox(count: number, size = 300): Outbox {
  const it = new Outbox()
  for (let n = 1; n <= count; n++) it.add({ type: 'ack', attempt: `a${n}` }, 0, size)
  return it
}
const numbers = (page: ReturnType<Outbox['page']>) => page.map((it) => ('n' in it ? it.n : null))
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

describe('what a session was told and has not seen', () => {
  it('is said on a connection once, and does not hold up what is new there, however many it is', () => {
    const box = outbox(600)
    expect(numbers(box.page(0))).toEqual(from(1, 500))
    expect(box.hasNews()).toBe(false) // who asks anew hears those again first
    expect(box.hasNews(500)).toBe(true)
    expect(numbers(box.page(0, 500))).toEqual(from(501, 600))
    expect(box.hasNews(600)).toBe(false)
    box.add({ type: 'ack', attempt: 'new' }, 0, 300)
    expect(box.hasNews(600)).toBe(true)
    expect(numbers(box.page(0, 600))).toEqual([601])
  })

  it('holds up what is new by its size, until some of it was seen', () => {
    const box = outbox(6, 300_000)
    expect(numbers(box.page(0))).toEqual([1, 2, 3])
    expect(box.hasNews(3)).toBe(false)
    expect(numbers(box.page(0, 3))).toEqual([])
    box.saw(2)
    expect(box.hasNews(3)).toBe(true)
    expect(numbers(box.page(0, 3))).toEqual([4, 5])
  })

  it('is said again where it may have been lost, and no more once it was seen', () => {
    const box = outbox(5)
    box.page(0)
    expect(numbers(box.page(0))).toEqual(from(1, 5))
    for (const [seen, left] of [
      [2, from(3, 5)],
      [1, from(3, 5)],
      [5, []],
      [9, []],
    ] as const) {
      box.saw(seen)
      expect(numbers(box.page(0))).toEqual(left)
    }
  })

  it('is said alone where one of it is larger than a page', () => {
    const box = outbox(2, 2 * 1024 * 1024)
    expect(numbers(box.page(0))).toEqual([1])
    expect(box.hasNews(1)).toBe(false)
    box.saw(1)
    expect(numbers(box.page(0, 1))).toEqual([2])
  })
})
