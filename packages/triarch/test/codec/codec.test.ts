import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Codec, compress, encrypt, readOnly, Triarch } from '../../src/index.ts'
import { Coder, isCoded } from '../../src/store/codec/coder.ts'
import { memory } from '../../src/testing/index.ts'

const key = new Uint8Array(32).fill(7)
const keys = [{ id: 'k', key }]
const long = JSON.stringify({ text: 'again and again '.repeat(500), umlaut: 'ä€😀\u0000' })

/** Encoded by these, decoded by those. */
function roundTrip(text: string, by: Codec[], those = by): { stored: string; read: string } {
  const stored = new Coder(by).encode(text)
  return { stored, read: isCoded(stored) ? new Coder(those).decode(stored) : stored }
}
function codeOf(body: () => unknown): string {
  try {
    body()
    return 'nothing'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('compress', () => {
  it.each(['zstd', 'brotli', 'deflate'] as const)(
    'makes what repeats itself much smaller by %s, for everybody to read',
    (algorithm) => {
      const { stored, read } = roundTrip(long, [compress({ algorithm })], [])
      expect(stored.length).toBeLessThan(long.length / 10)
      expect(read).toBe(long)
    },
  )

  it('leaves alone what is small, and what would not become smaller', () => {
    const short = JSON.stringify('a'.repeat(1_000))
    expect(roundTrip(short, [compress()]).stored).toBe(short)
    expect(isCoded(roundTrip(short, [compress({ above: 100 })]).stored)).toBe(true)
    const noise = JSON.stringify(randomBytes(4_000).toString('base64'))
    expect(roundTrip(noise, [compress()]).stored).toBe(noise)
  })

  it('refuses options that make no sense', () => {
    expect(codeOf(() => compress({ algorithm: 'lzma' as never }))).toBe('INVALID_OPTION')
    expect(codeOf(() => compress({ above: -1 }))).toBe('INVALID_OPTION')
    expect(codeOf(() => compress({ level: 3 } as never))).toBe('UNKNOWN_OPTION')
  })
})

describe('encrypt', () => {
  it('gives the same text another form each time, and back', () => {
    const coder = new Coder([encrypt({ keys })])
    const forms = Array.from({ length: 20 }, () => coder.encode(long))
    expect(new Set(forms).size).toBe(20)
    for (const form of forms) expect(coder.decode(form)).toBe(long)
    expect(forms[0]).toMatch(/^\{"~coded":"encrypt:k",/)
  })

  it('reads what another process wrote, and what is compressed before', () => {
    const both = () => [compress(), encrypt({ keys: [{ id: 'k', key: Buffer.from(key).toString('base64') }] })]
    const { stored, read } = roundTrip(long, both(), both())
    expect(read).toBe(long)
    expect(stored).toMatch(/^\{"~coded":"zstd encrypt:k",/)
    expect(stored.length).toBeLessThan(long.length / 10)
  })

  it('refuses what was changed, wherever it was', () => {
    const coder = new Coder([encrypt({ keys })])
    const { data, ...rest } = JSON.parse(coder.encode('"a secret"')) as { data: string }
    const bytes = Buffer.from(data, 'base64')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] as number) ^ 1
      const text = JSON.stringify({ ...rest, data: changed.toString('base64') })
      expect(
        codeOf(() => coder.decode(text)),
        `byte ${at}`,
      ).toBe('CODEC_FAILED')
    }
    const short = JSON.stringify({ ...rest, data: bytes.subarray(0, 20).toString('base64') })
    expect(codeOf(() => coder.decode(short))).toBe('CODEC_FAILED')
  })

  it('says which key is missing, and refuses another of the same id', () => {
    const { stored } = roundTrip('1', [encrypt({ keys })])
    const other = new Uint8Array(32)
    expect(codeOf(() => new Coder([encrypt({ keys: [{ id: 'j', key }] })]).decode(stored))).toBe('CODEC_KEY_MISSING')
    expect(codeOf(() => new Coder([encrypt({ keys: [{ id: 'k', key: other }] })]).decode(stored))).toBe('CODEC_FAILED')
    expect(codeOf(() => new Coder([]).decode(stored))).toBe('CODEC_MISSING')
  })

  it.each([
    [undefined],
    [[]],
    [[{ id: 'k', key: new Uint8Array(16) }]],
    [[{ id: 'k', key: 'c2hvcnQ=' }]],
    [[{ id: 'a key', key }]],
    [[...keys, ...keys]],
  ])('refuses keys that are none, and never says them: %j', (given) => {
    expect(codeOf(() => encrypt({ keys: given as never }))).toBe('INVALID_OPTION')
  })
})

describe('a codec', () => {
  const upside: Codec = {
    name: 'upside',
    encode: (data) => ({ data: Buffer.from(data).reverse(), key: 'down' }),
    decode: (data, key) => (key === 'down' ? Buffer.from(data).reverse() : data),
  }

  it('may be anybody’s own, and is told the key that it gave', () => {
    const { stored, read } = roundTrip(long, [upside])
    expect(stored).toMatch(/^\{"~coded":"upside:down",/)
    expect(read).toBe(long)
  })

  it('decodes only, where it is to', () => {
    expect(roundTrip(long, [readOnly(upside)]).stored).toBe(long)
    expect(roundTrip(long, [upside], [readOnly(upside)]).read).toBe(long)
  })

  it('is not believed whatever it gives', () => {
    const odd = (encode: unknown) => [{ ...upside, encode } as Codec]
    for (const given of [Promise.resolve(null), 'text', { data: 'text' }, { data: key, key: 'two words' }, undefined])
      expect(codeOf(() => new Coder(odd(() => given)).encode('1'))).toBe('STORE_FAILED')
    const { stored } = roundTrip('1', [upside])
    const broken = { ...upside, decode: () => JSON.parse('{') }
    expect(codeOf(() => new Coder([broken]).decode(stored))).toBe('CODEC_FAILED')
  })

  it('is not taken for what it is not: a payload that looks encoded comes back as it was', () => {
    const sly = '{"~coded":"encrypt:k","data":"AAAA"}'
    expect(roundTrip(sly, [compress()]).read).toBe(sly)
    expect(roundTrip(sly, []).read).toBe(sly)
  })

  it.each(['{"~coded":"', '{"~coded":"zstd"}', '{"~coded":"zstd","data":1}', '{"~coded":"zstd","data":"AAAA"}'])(
    'refuses what none wrote: %s',
    (text) => expect(codeOf(() => new Coder([]).decode(text))).toBe('CODEC_FAILED'),
  )

  it.each([
    [null],
    ['zstd'],
    [{ name: 'Big', encode: upside.encode, decode: upside.decode }],
    [{ name: 'own', encode: upside.encode }],
    [[upside, upside]],
  ])('is checked where it is given: %j', (codec) => {
    expect(codeOf(() => new Triarch({ store: memory(), codec: codec as never }))).toBe('INVALID_OPTION')
  })
})
