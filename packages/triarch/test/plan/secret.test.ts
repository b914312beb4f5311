import { describe, expect, it } from 'vitest'
import { HIDDEN, scrub, secretsAt } from '../../src/kernel/secret.ts'

describe('secrets', () => {
  it('are hidden whatever they are part of, the longest first', () => {
    const secrets = new Set(['pass', 'password', 'word-of-mouth', '4711'])
    const shown = scrub(
      { a: 'my password, pass and pa', b: ['pass-word-of-mouth', 4711, 47110], '4711': null },
      secrets,
    )
    const expected = { a: `my ${HIDDEN}, ${HIDDEN} and pa`, b: [`${HIDDEN}-${HIDDEN}`, HIDDEN, 47110], '4711': null }
    expect(shown).toEqual(expected)
  })

  it('are found at every place of a text, also where one begins like another or at its end', () => {
    const secrets = new Set(['abcdef', 'abcdxyz', 'zzzz'])
    expect(scrub('abcdabcdxyzabcdefzzzzz', secrets)).toBe(`abcd${HIDDEN}${HIDDEN}${HIDDEN}z`)
    expect(scrub('nothing here', secrets)).toBe('nothing here')
    expect(scrub('', secrets)).toBe('')
  })

  it('are thousands as well as one: each text is read once', () => {
    const tokens = Array.from({ length: 20_000 }, (_, i) => `sk-live-${i.toString(36).padStart(20, '0')}`)
    const found = secretsAt({ tokens }, ['*'])
    expect(found.size).toBe(tokens.length)
    expect(scrub(tokens.join(' '), found)).toBe(tokens.map(() => HIDDEN).join(' '))
    found.add('another one')
    expect(scrub('another one', found)).toBe(HIDDEN)
  })
})
