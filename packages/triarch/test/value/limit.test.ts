import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_PAYLOAD_LIMIT, encode } from '../../src/value/payload.ts'
import { raises } from './raises.ts'

const LIMIT = DEFAULT_PAYLOAD_LIMIT
const enc = (value: unknown, limit = LIMIT) => encode(value, 'input', limit)

describe('a payload over the limit is PAYLOAD_TOO_LARGE', () => {
  const tooLarge = (value: unknown, limit?: number) => raises('PAYLOAD_TOO_LARGE', () => enc(value, limit))

  it('to the byte of its UTF-8 JSON', () => {
    return fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const bytes = Buffer.byteLength(JSON.stringify(value))
        expect(enc(value, bytes)).toEqual(JSON.parse(JSON.stringify(value)))
        if (value !== null && typeof value !== 'boolean') tooLarge(value, bytes - 1)
      }),
    )
  })

  it('whatever the characters', () => {
    for (const text of ['aé€😀', '"\\\u0000\n', '\ud800']) {
      const bytes = Buffer.byteLength(JSON.stringify(text))
      expect(enc(text, bytes)).toBe(text)
      expect(tooLarge(text, bytes - 1).details).toEqual({ bytes, limit: bytes - 1 })
    }
  })

  it('without working through all of it', () => {
    expect(tooLarge('x'.repeat(LIMIT)).message).toContain(`${LIMIT} bytes`)
    tooLarge(new Array(1e9))
    let bomb: unknown = 'x'
    for (let level = 0; level < 200; level++) bomb = [bomb, bomb]
    tooLarge(bomb)
  })
})
