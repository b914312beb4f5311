// What commands print as data goes to terminals as well.
import { expect, it } from 'vitest'
import { dataOf } from '../src/table.ts'

it('data is JSON that says the same, without a character that steers a terminal', () => {
  const value = { 'k\u009b2J': ['a\u001b[2J', '\u009d0;title\u009c', '\u007f', '\u202eabc\u2066', '\u2028', 'ä😀'] }
  for (const indent of [0, 2]) {
    const text = dataOf(value, indent)
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
    expect(JSON.parse(text)).toEqual(value)
    expect(text).toContain('ä😀')
  }
})
