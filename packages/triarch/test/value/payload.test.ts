import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTriarchError } from '../../src/error/error.ts'
import { DEFAULT_PAYLOAD_LIMIT, encode } from '../../src/value/payload.ts'
import { raises } from './raises.ts'

const enc = (value: unknown) => encode(value, 'input', DEFAULT_PAYLOAD_LIMIT)
const viaJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const refused = (value: unknown) => raises('UNSERIALISABLE', () => enc(value)).message

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

describe('a payload comes back as JSON has it', () => {
  it('for every JSON value', () => {
    return fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const before = JSON.stringify(value)
        expect(enc(value)).toStrictEqual(JSON.parse(before))
        expect(JSON.stringify(enc(value))).toBe(before)
      }),
    )
  })

  it('for everything it accepts, and it is a typed error for all else', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    return fc.assert(
      fc.property(anything, (value) => {
        let copy: unknown
        try {
          copy = enc(value)
        } catch (error) {
          expect(isTriarchError(error, 'UNSERIALISABLE')).toBe(true)
          return
        }
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value) ?? 'null')
        expect(copy).toStrictEqual(viaJson(value ?? null))
      }),
      { numRuns: 1000 },
    )
  })

  it('undefined is null on top, absent in objects, null in arrays', () => {
    expect(enc(undefined)).toBe(null)
    expect(enc({ a: undefined, b: Object.assign(new Array(4), { 0: undefined, 1: 1, 3: 2 }) })).toStrictEqual({
      b: [null, 1, null, 2],
    })
    expect(Object.is(enc(-0), 0)).toBe(true)
  })

  it('toJSON is honoured, once, with its key', () => {
    expect(enc(new Date(0))).toBe('1970-01-01T00:00:00.000Z')
    expect(enc({ at: new Date(0), url: new URL('http://a/') })).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      url: 'http://a/',
    })
    expect(enc({ k: { toJSON: (key: string) => key }, l: [{ toJSON: (key: unknown) => key }] })).toEqual({
      k: 'k',
      l: ['0'],
    })
    expect(enc({ toJSON: () => undefined })).toBe(null)
    expect(enc({ a: { toJSON: () => undefined } })).toEqual({})
    const twice = { toJSON: () => ({ a: 1, toJSON: 'no function' }) }
    expect(enc(twice)).toEqual(viaJson(twice))
    class Money {
      cents = 5
      toJSON(): unknown {
        return { cents: this.cents }
      }
    }
    expect(enc({ price: new Money() })).toEqual({ price: { cents: 5 } })
  })

  it('plain data of class instances, boxed and foreign objects', () => {
    class Point {
      x = 1
      #secret = 2
      get double(): number {
        return this.x * this.#secret
      }
    }
    expect(enc(new Point())).toStrictEqual({ x: 1 })
    expect(enc(Object.assign(Object.create(null), { a: 1 }))).toStrictEqual({ a: 1 })
    expect(enc([Object(1), Object('s'), Object(false)])).toStrictEqual([1, 's', false])
  })

  it('and shares nothing with the original', () => {
    const item = { n: 1 }
    const value = { list: [item, item] }
    const copy = enc(value) as { list: { n: number }[] }
    item.n = 2
    expect(copy).toEqual({ list: [{ n: 1 }, { n: 1 }] })
    expect(copy.list[0]).not.toBe(copy.list[1])
  })
})

describe('a payload is refused as UNSERIALISABLE, with its path', () => {
  it('when JSON would lose or distort it', () => {
    const wrong: unknown[] = [() => 1, Symbol('s'), 5n, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    wrong.push(new Map(), new Set(), Promise.resolve(), new WeakMap(), new WeakSet(), new Error('x'), /x/)
    wrong.push(new ArrayBuffer(1), new Uint8Array(1), Buffer.from('x'), new DataView(new ArrayBuffer(1)))
    wrong.push(new Date(Number.NaN), Object(5n), Object(Symbol('s')), new WeakRef({}), new (class extends Map {})())
    wrong.push((function* () {})())
    class Thenable {}
    Object.defineProperty(Thenable.prototype, 'then', { value: () => undefined })
    wrong.push(new Thenable(), Object.fromEntries([['then', () => undefined]]))
    for (const value of wrong) {
      expect(refused(value)).toMatch(/^input\b/)
      expect(refused({ items: [0, { price: value }] })).toMatch(/^input\.items\[1\]\.price\b/)
      expect(refused({ toJSON: () => value })).toMatch(/^input\b/)
    }
    expect(refused({ 'a b': { '': [5n] } })).toMatch(/^input\["a b"\]\[""\]\[0\] is a bigint/)
    expect(refused({ order: Promise.resolve() })).toContain('await')
  })

  it('names the path also after siblings of other depths', () => {
    expect(refused({ a: { b: { c: 1 } }, d: [[1], [2]], e: 5n })).toMatch(/^input\.e is/)
    expect(refused([[[1]], { x: 1 }, [Number.NaN]])).toMatch(/^input\[2\]\[0\] is NaN/)
  })

  it('when it contains itself, but not when it is merely shared', () => {
    const cycle: Record<string, unknown> = { a: [] }
    ;(cycle.a as unknown[]).push({ back: cycle })
    expect(refused(cycle)).toMatch(/^input\.a\[0\]\.back contains itself/)
    const shared = { x: 1 }
    expect(enc([shared, [shared], { shared }])).toEqual([{ x: 1 }, [{ x: 1 }], { shared: { x: 1 } }])
    expect(refused({ toJSON: () => cycle })).toContain('contains itself')
  })

  it('when it is nested deeper than 256 levels', () => {
    expect(enc(nested(256))).toEqual(nested(256))
    expect(refused(nested(257))).toContain('nested deeper')
    expect(refused(nested(100_000))).toContain('nested deeper')
  })

  it('when reading it throws', () => {
    const boom = (): never => {
      throw new Error('boom')
    }
    const error = raises('UNSERIALISABLE', () =>
      enc({
        a: {
          get b(): unknown {
            return boom()
          },
        },
      }),
    )
    expect(error.message).toMatch(/^input\.a\.b cannot be read/)
    expect((error.cause as Error).message).toBe('boom')
    expect(refused({ toJSON: boom })).toContain('cannot be read')
    expect(refused(new Proxy({}, { ownKeys: boom }))).toContain('cannot be read')
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(refused({ proxy })).toMatch(/^input\.proxy/)
    const endless: () => unknown = () =>
      new Proxy(
        {},
        {
          ownKeys: () => ['a'],
          getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
          get: (_, key) => (key === 'a' ? endless() : undefined),
        },
      )
    expect(refused(endless())).toContain('nested deeper')
  })
})

describe('a payload cannot pollute', () => {
  it('__proto__ is an own property like any other', () => {
    const hostile: unknown = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')
    const copy = enc(hostile) as Record<string, unknown>
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(Object.keys(copy)).toEqual(['__proto__', 'constructor'])
    expect(copy.polluted).toBeUndefined()
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(JSON.stringify(copy)).toBe(JSON.stringify(hostile))
  })
})
