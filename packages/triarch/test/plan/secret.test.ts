import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HIDDEN, SecretTexts, secretsAt } from '../../src/kernel/secret.ts'

describe('secrets', () => {
  it('are hidden whatever they are part of, the longest first, also as names of keys', () => {
    const secrets = new SecretTexts(['pass', 'password', 'word-of-mouth', '4711'])
    const shown = secrets.scrub({
      ...{ a: 'my password, pass and pa', b: ['pass-word-of-mouth', 4711, 47110] },
      ...{ '4711': null, pass: 1, password: 2 },
    })
    expect(shown).toEqual({
      ...{ a: `my ${HIDDEN}, ${HIDDEN} and pa`, b: [`${HIDDEN}-${HIDDEN}`, HIDDEN, 47110] },
      ...{ [HIDDEN]: null, [`${HIDDEN} 2`]: 1, [`${HIDDEN} 3`]: 2 },
    })
  })

  it('are found at every place of a text, also where one begins like another or at its end', () => {
    const secrets = new SecretTexts(['abcdef', 'abcdxyz', 'zzzz'])
    expect(secrets.scrub('abcdabcdxyzabcdefzzzzz')).toBe(`abcd${HIDDEN}${HIDDEN}${HIDDEN}z`)
    expect(secrets.scrub('nothing here')).toBe('nothing here')
    expect(secrets.scrub('')).toBe('')
  })

  it('are thousands as well as one: each text is read once', () => {
    const tokens = Array.from({ length: 20_000 }, (_, i) => `sk-live-${i.toString(36).padStart(20, '0')}`)
    const found = secretsAt({ tokens }, ['*'])
    expect(found.size).toBe(tokens.length)
    expect(found.scrub(tokens.join(' '))).toBe(tokens.map(() => HIDDEN).join(' '))
    found.add('another one')
    expect(found.scrub('another one')).toBe(HIDDEN)
  })

  it('are found where a text was cut off in the middle of one, quoted or not', () => {
    const secrets = new SecretTexts(['correct "horse" battery'])
    expect(secrets.scrub('the password is correct "ho…')).toBe(`the password is ${HIDDEN}…`)
    expect(secrets.scrub('{"password":"correct \\"ho…')).toBe(`{"password":"${HIDDEN}…`)
    expect(secrets.scrub('is it correct?…')).toBe('is it correct?…')
  })

  /** How programs write a text into another. */
  const ways: Record<string, (text: string) => string> = {
    plain: (text) => text,
    JSON: (text) => JSON.stringify(text),
    'JSON in JSON': (text) => JSON.stringify(JSON.stringify({ text })),
    'JSON three times': (text) => JSON.stringify(JSON.stringify(JSON.stringify([text]))),
    'JSON of ASCII': (text) =>
      JSON.stringify(text).replace(/[^\x20-\x7e]/g, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`),
    'JSON of HTML': (text) =>
      JSON.stringify(text).replace(/[<>&'+]/g, (it) => `\\u00${it.charCodeAt(0).toString(16).toUpperCase()}`),
    inspected: (text) => inspect({ text }, { maxStringLength: null, breakLength: Infinity }),
    'a part of a URL': (text) => `https://x.example/?a=1&b=${encodeURIComponent(text)}&c=2`,
    'a form': (text) => `a=${new URLSearchParams({ text })}&z=1`,
    'a URL in a URL': (text) => encodeURIComponent(`https://x.example/?b=${encodeURIComponent(text)}`),
    'a URL in JSON': (text) => JSON.stringify({ url: `/${encodeURIComponent(text)}/x` }),
    'JSON in a URL': (text) => encodeURIComponent(JSON.stringify({ text })),
    XML: (text) =>
      `<a>${text.replace(/[<>&"']/g, (it) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' })[it] ?? '&#39;')}</a>`,
  }
  const base64: Record<string, (text: string) => string> = {
    Base64: (text) => Buffer.from(text).toString('base64'),
    'Base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
    'Base64 after one byte': (text) => Buffer.from(`:${text}:`).toString('base64'),
    'Base64 after two bytes': (text) => Buffer.from(`u:${text}`).toString('base64url'),
    'a token of JSON': (text) => `eyJhbGciOiJub25lIn0.${Buffer.from(JSON.stringify({ text })).toString('base64url')}.`,
    'Base64 of JSON': (text) => Buffer.from(JSON.stringify({ user: 'ann', text })).toString('base64'),
  }

  /** Texts with what is quoted, in all planes of Unicode. */
  const unit = fc.oneof(
    fc.constantFrom(
      '"',
      '\\',
      "'",
      '`',
      '\n',
      '\r\n',
      '\t',
      '%',
      '+',
      '&',
      '<',
      '>',
      '/',
      ' ',
      '=',
      '%41',
      '\\n',
      '\\u0041',
    ),
    fc.constantFrom('é', 'ß', '中', '😀', '\u2028', '\u0001', '\u007f'),
    fc.string({ minLength: 1, maxLength: 3 }),
  )
  const secret = fc
    .array(unit, { minLength: 4, maxLength: 12 })
    .map((units) => `s${units.join('')}E`)
    .filter((text) => text.replaceAll('\\', '').length >= 4)

  it.each(Object.entries(ways))('are found in %s', (_, write) => {
    fc.assert(
      fc.property(secret, (text) => {
        const said = `before ${write(text)} after`
        const shown = new SecretTexts([text]).scrub(said)
        expect(shown).toContain(HIDDEN)
        // What is left is what stood around it.
        const around = `before ${write('\u0002')} after`
        const mark = write('\u0002')
        expect(shown.length).toBeLessThanOrEqual(around.length - mark.length + write(HIDDEN).length + mark.length + 4)
        for (const part of [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text.toWellFormed())])
          expect(shown).not.toContain(part)
      }),
      { numRuns: 300 },
    )
  })

  it.each(Object.entries(base64))('are found in %s', (_, write) => {
    fc.assert(
      fc.property(secret, (text) => {
        expect(new SecretTexts([text]).scrub(`Basic ${write(text)}`)).toContain(HIDDEN)
      }),
      { numRuns: 300 },
    )
  })

  it('hide nothing else: a text without any of them stays as it is', () => {
    const text = fc.array(unit, { maxLength: 30 }).map((units) => units.join(''))
    fc.assert(
      fc.property(text, (given) => {
        const secrets = new SecretTexts(['never-of-these-4711', '"q" \\never\n'])
        fc.pre(!given.includes('never'))
        expect(secrets.scrub(given)).toBe(given)
        expect(secrets.within([given, { [given]: 4711 }])).toEqual([])
      }),
    )
  })

  it('are named that stand in a value, each of them, also within one another', () => {
    const secrets = new SecretTexts(['password', 'pass', 'word', 'not here', '123456'])
    expect(secrets.within({ a: ['my password', { 123456: null }], b: 12 }).sort()).toEqual([
      '123456',
      'pass',
      'password',
      'word',
    ])
    expect(secrets.within({ a: 123456 })).toEqual(['123456'])
  })
})
