import { describe, expect, it } from 'vitest'
import { json as typed } from '../../cli/src/argument.ts'
import { allImported } from '../../cli/src/exported.ts'
import { KnownSetting } from '../../triarch/src/definition/setting.ts'
import { outcomeOf } from '../../triarch/src/wire/outcome.ts'
import { outputOf } from '../src/push/answer.ts'
import { parseJson } from '../src/request/json.ts'

// Texts of services, agents and people × what can be wrong with them: each is refused where it enters, by a stable code, or taken as it is.

const limits = { depth: 300, items: 1_000_000 }
const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
} as const

/** Reads the text, and answers what it says, or throws. */
const readers: Record<string, { read: (text: string) => unknown; refusal: RegExp }> = {
  'the body of a request': {
    read: (text) => parseJson(text, limits),
    refusal: /INVALID_JSON|INEXACT_NUMBER/,
  },
  'the answer of a push agent': {
    read: (text) => outputOf('it', { status: 200, headers: {}, body: text } as never),
    refusal: /INVALID_OUTPUT/,
  },
  'an argument of the command line': {
    read: (text) => typed('--input', text, {} as never),
    refusal: /Usage|usage|--input/,
  },
  'a setting of the environment': {
    read: (text) => new KnownSetting('any', anything as never, null, { TRIARCH_SETTING_ANY: text }).value,
    refusal: /INVALID_SETTING/,
  },
}

/** By what is wrong: the text, and what it says; without it, it is refused. */
const texts: Record<string, [text: string, says?: unknown]> = {
  'no JSON': ['{"a":'],
  'very deep': ['['.repeat(100_000) + ']'.repeat(100_000)],
  'deeper than 300': ['['.repeat(301) + ']'.repeat(301)],
  'wider than a million': [`[${'0,'.repeat(1_000_000)}0]`],
  'an integer that would be rounded': ['{"amount":9007199254740993}'],
  'a number beyond all': ['[1e400]'],
  'a fraction that would be rounded': ['[0.1234567890123456789]'],
  'the largest exact integer': ['[9007199254740992]', [9_007_199_254_740_992]],
  '-0': ['[-0]', [-0]],
  'half a character': ['["a\\ud800b"]', ['a\ud800b']],
  NUL: ['["a\\u0000b"]', ['a\0b']],
  'a key named __proto__': ['{"__proto__":1}', JSON.parse('{"__proto__":1}')],
}

describe.each(Object.entries(readers))('%s', (_, { read, refusal }) => {
  it.each(Object.entries(texts))('that is, or has, %s', async (_, [text, ...says]) => {
    const told = await (async () => read(text))().then(
      (value) => ({ value }),
      (error: { code?: string; message: string }) => ({ refused: `${error.code ?? ''} ${error.message}` }),
    )
    if (says.length > 0) expect(told).toEqual({ value: says[0] })
    else expect(told).toEqual({ refused: expect.stringMatching(refusal) })
  })
})

it('a file to import that is nested too deeply is no export', () => {
  expect(() => allImported('['.repeat(100_000) + ']'.repeat(100_000), 'x.json')).toThrow('triarch export')
})

describe('the wait that a service asks for', () => {
  const day = 86_400_000
  it.each([
    ['5', 5_000],
    ['0', 0],
    ['99999999999', 30 * day],
    ['9'.repeat(400), 30 * day],
    ['-5', 0],
    ['NaN', undefined],
    ['1e400', undefined],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 30 * day],
    ['', undefined],
  ])('by Retry-After is bounded: %j', (header, wait) => {
    const answer = { status: 429, headers: { 'retry-after': header }, body: '' }
    let thrown: unknown
    try {
      outputOf('it', answer as never)
    } catch (error) {
      thrown = error
    }
    expect((thrown as { retryAfter?: number }).retryAfter).toBe(wait)
  })

  it.each([
    [5, 5],
    [1e13, 30 * day],
    [1e308, 30 * day],
    [-5, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    ['5s', undefined],
    [5n, undefined],
  ])('by an agent on the wire is bounded: %s', (retryAfter, wait) => {
    const error = { name: 'Error', message: 'later' }
    const reply = {
      type: 'reply',
      attempt: 'a',
      outcome: { kind: 'failed', error, retryable: true, retryAfter },
    } as const
    expect((outcomeOf(reply as never, 'run', 10_000) as { retryAfter?: number }).retryAfter).toBe(wait)
  })
})

describe('what an agent on the wire answers', () => {
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
  const outcome = (it: object) => outcomeOf({ type: 'reply', attempt: 'a', outcome: it } as never, 'run', 10_000)

  it('is an error whose details and causes are cut', () => {
    const error = { name: 'n'.repeat(9_000), message: 'm'.repeat(90_000), details: nested(5_000), cause: nested(5_000) }
    const told = JSON.stringify(outcome({ kind: 'failed', error, retryable: true }))
    expect(told.length).toBeLessThan(20_000)
    expect(told).toContain('…')
  })

  it.each([
    ['deep', nested(257), 'UNSERIALISABLE'],
    ['very deep', nested(5_000), 'UNSERIALISABLE'],
    ['large', 'x'.repeat(20_000), 'PAYLOAD_TOO_LARGE'],
  ])('is a failed attempt by its code where its output is too %s', (_, output, code) => {
    expect(outcome({ kind: 'done', output })).toMatchObject({ kind: 'failed', error: { code }, done: true })
  })
})
