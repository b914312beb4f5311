import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isErrorCode } from '../../src/error/catalogue.ts'
import { isTriarchError, TriarchError } from '../../src/error/error.ts'
import { fromRecord, toRecord } from '../../src/error/record.ts'
import { StepFailedError } from '../../src/error/task-error.ts'
import type { ErrorRecord } from '../../src/kernel/json.ts'

function depth(record: ErrorRecord): number {
  return record.cause === undefined ? 0 : 1 + depth(record.cause)
}

describe('an error record', () => {
  it('holds name, message, code, stack, details and causes', () => {
    const error = new TriarchError('STORE_FAILED', 'no luck', {
      cause: Object.assign(new RangeError('inner'), { code: 'EIO' }),
      details: { a: [1] },
    })
    const record = toRecord(error)
    expect(record).toMatchObject({
      name: 'TriarchError',
      message: 'no luck',
      code: 'STORE_FAILED',
      details: { a: [1] },
      cause: { name: 'RangeError', message: 'inner', code: 'EIO' },
    })
    expect(record.stack).toContain('record.test.ts')
  })

  it('is plain JSON and comes back as an error alike', () => {
    const original = new Error('outer', { cause: new TypeError('inner') })
    const record = toRecord(original)
    expect(JSON.parse(JSON.stringify(record))).toEqual(record)
    const error = fromRecord(record)
    expect(error).toBeInstanceOf(Error)
    expect([error.name, error.message, error.stack]).toEqual(['Error', 'outer', original.stack])
    expect(error.cause).toMatchObject({ name: 'TypeError', message: 'inner' })
    expect(toRecord(error)).toEqual(record)
  })

  it('brings a TriarchError back as one, its subclass by name', () => {
    const record = toRecord(new StepFailedError({ id: 3, action: 'a.b', attempts: 2, rescue: 'fail' }))
    const error = fromRecord(record)
    expect(isTriarchError(error, 'STEP_FAILED')).toBe(true)
    expect(error.name).toBe('StepFailedError')
    expect(toRecord(error)).toEqual(record)
  })

  it('does not take a foreign error for ours because of its code', () => {
    const foreign = Object.assign(new Error('x'), { name: 'GatewayError', code: 'STORE_BUSY' })
    const error = fromRecord(toRecord(foreign))
    expect(isTriarchError(error)).toBe(false)
    expect(error).toMatchObject({ name: 'GatewayError', code: 'STORE_BUSY' })
  })

  it('takes what is thrown though it is no error', () => {
    expect(toRecord('text')).toEqual({ name: 'Error', message: 'Thrown: text' })
    expect(toRecord(undefined)).toEqual({ name: 'Error', message: 'Thrown: undefined' })
    expect(toRecord(Symbol('s')).message).toBe('Thrown: Symbol(s)')
    expect(toRecord({ a: 1 }).message).toBe('Thrown: {"a":1}')
    expect(toRecord({ message: 'like an error', code: 7 })).toMatchObject({ message: 'like an error', code: '7' })
    expect(toRecord(() => 1).message).toContain('Thrown: ')
  })

  it('shows the first of several errors as the cause', () => {
    expect(toRecord(new AggregateError([new Error('one'), new Error('two')], 'all')).cause?.message).toBe('one')
  })

  it('is bounded in text and in depth', () => {
    let chain: Error | undefined
    for (let level = 0; level < 20; level++) chain = new Error(`level ${level}`, { cause: chain })
    expect(depth(toRecord(chain))).toBe(5)
    const long = toRecord(Object.assign(new Error('m'.repeat(1e6)), { details: 'd'.repeat(1e6) }))
    expect(JSON.stringify(long).length).toBeLessThan(26_000)
  })

  const nested = (depth: number): unknown => {
    let value: unknown = 1
    for (let level = 0; level < depth; level++) value = { in: value }
    return value
  }
  const boom = (): never => {
    throw new Error('boom')
  }
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  it.each<[string, unknown, (told: string) => boolean]>([
    ['deep', nested(100_000), (told) => told.startsWith('{"in":{"in":') && told.includes('"…"')],
    ['long', Array.from({ length: 1e6 }, (_, n) => n), (told) => told.endsWith(',98,99,"…"]')],
    [
      'wide',
      Object.fromEntries(Array.from({ length: 1e5 }, (_, n) => [`k${n}`, n])),
      (told) => told.endsWith(':99,"…":"…"}'),
    ],
    ['large', { text: 'x'.repeat(1e6) }, (told) => told.length < 8_300 && told.endsWith('x…"}')],
    ['large as JSON only', { text: '\0'.repeat(8_000) }, (told) => told.length < 8_300],
    ['wide on every level', Array(99).fill(Array(99).fill(Array(99).fill('x'))), (told) => told.length < 20_000],
    ['cyclic', cyclic, (told) => told.startsWith('{"self":{"self":')],
    ['a BigInt', { id: 5n }, (told) => told === '{"id":"5"}'],
    ['no number', [Number.NaN, Number.POSITIVE_INFINITY, -0], (told) => told === '[null,null,0]'],
    ['a getter that throws', { get a() { return boom() }, b: 1 }, (told) => told === '{"a":"…","b":1}'], // biome-ignore format: one line
    ['a toJSON that throws', { a: { toJSON: boom }, b: 1 }, (told) => told === '{"a":"…","b":1}'],
    ['a Proxy that throws', { a: new Proxy({}, { ownKeys: boom, get: boom }) }, (told) => told === '{"a":"…"}'],
    ['a Date', { at: new Date(0) }, (told) => told === '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['functions and symbols', [() => 1, Symbol('s'), undefined], (told) => told === '[null,null,null]'],
  ])('cuts details that are %s', (_, details, isCut) => {
    const told = JSON.stringify(toRecord(Object.assign(new Error('x'), { details })).details)
    expect([told, isCut(told)]).toEqual([told, true])
  })

  it('survives cycles, hostile getters and proxies', () => {
    const cyclic = new Error('cyclic')
    cyclic.cause = cyclic
    expect(toRecord(cyclic).cause).toBeUndefined()
    const boom = (): never => {
      throw new Error('boom')
    }
    const hostile = {
      get message() {
        return boom()
      },
      get stack() {
        return boom()
      },
      toJSON: boom,
      toString: boom,
    }
    expect(toRecord(hostile).name).toBe('Error')
    const trap = new Proxy({}, { get: boom, ownKeys: boom, getPrototypeOf: boom, getOwnPropertyDescriptor: boom })
    expect(toRecord(trap).name).toBe('Error')
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    expect(toRecord(proxy).name).toBe('Error')
    expect(toRecord(Object.assign(new Error('x'), { errors: proxy })).message).toBe('x')
    expect(toRecord(new Proxy({}, { get: (_, key) => ({ [key]: trap }) })).name).toBe('Error')
    const endless = (): object => ({
      get cause() {
        return endless()
      },
    })
    expect(depth(toRecord(endless()))).toBe(5)
  })

  it('never throws and is always JSON, whatever was thrown', () => {
    return fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withTypedArray: true }), (thrown) => {
        const record = toRecord(thrown)
        expect(JSON.parse(JSON.stringify(record))).toEqual(record)
        expect(fromRecord(record).message).toBe(record.message)
      }),
    )
  })
})

/** Every error in the histories of the first edition of recordings. */
function recorded(): ErrorRecord[] {
  const folder = join(import.meta.dirname, '../../../../tools/recordings/0.1')
  const found: ErrorRecord[] = []
  const look = (_: string, value: unknown) => {
    const isError = typeof value === 'object' && value !== null && 'name' in value && 'message' in value
    if (isError) found.push(value as ErrorRecord)
    return typeof value === 'string' && value.startsWith('[1,') ? JSON.parse(value, look) : value
  }
  for (const name of readdirSync(folder)) JSON.parse(readFileSync(join(folder, name), 'utf8'), look)
  return found
}

describe('an error that version 0.1 recorded', () => {
  it('comes back as an error of today, by a code that the catalogue has', () => {
    const own = recorded().filter(({ name, code }) => code !== undefined && /^(Triarch|Task|StepFailed)/.test(name))
    expect(own.length).toBeGreaterThan(50)
    for (const record of own) {
      const error = fromRecord(record)
      expect([record, isTriarchError(error) && isErrorCode(error.code)]).toEqual([record, true])
    }
  })

  it('of another class with a code of the catalogue stays of its class', () => {
    const error = fromRecord({ name: 'BusError', code: 'SIGNAL_TIMEOUT', message: 'no bus' })
    expect(isTriarchError(error)).toBe(false)
    expect(error).toMatchObject({ name: 'BusError', code: 'SIGNAL_TIMEOUT' })
  })
})
