import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isTriarchError } from '../../src/error/error.ts'
import {
  invalid,
  isSchema,
  type RefusedValue,
  type StandardSchema,
  validate,
  validateSync,
} from '../../src/value/schema.ts'
import { raises } from './raises.ts'

const Order = z.object({ id: z.string(), items: z.array(z.object({ price: z.coerce.number() })) })
const Slow = z.string().refine(async (text) => text !== 'no')

function schemaOf(verdict: () => unknown): StandardSchema<unknown, unknown> {
  return { '~standard': { version: 1, vendor: 'test', validate: verdict as never } }
}

describe('a schema', () => {
  it('makes of a value what it says, at once when it can', () => {
    const value = validate(Order, { id: 'a', items: [{ price: '2' }] }, 'INVALID_INPUT', 'input')
    expect(value).toEqual({ id: 'a', items: [{ price: 2 }] })
  })

  it('refuses with the code given and every issue in the details', () => {
    const bad = { id: 1, items: [{ price: 1 }, { price: 'x' }] }
    const error = raises('INVALID_OUTPUT', () => validate(Order, bad, 'INVALID_OUTPUT', 'output of shop.x'))
    expect(error.message).toMatch(/^output of shop\.x is invalid: id: .*; items\[1\]\.price: /)
    expect(error.details).toMatchObject({ issues: [{ path: 'id' }, { path: 'items[1].price' }] })
  })

  it('may answer later', async () => {
    await expect(validate(Slow, 'yes', 'INVALID_INPUT', 'input')).resolves.toBe('yes')
    const refusal = await Promise.resolve(validate(Slow, 'no', 'INVALID_INPUT', 'input')).catch(
      (error: unknown) => error,
    )
    expect(isTriarchError(refusal, 'INVALID_INPUT')).toBe(true)
  })

  it('that fails itself is a typed error with the cause', async () => {
    const boom = (): never => {
      throw new Error('boom')
    }
    const error = raises('INVALID_INPUT', () => validate(schemaOf(boom), 1, 'INVALID_INPUT', 'input'))
    expect((error.cause as Error).message).toBe('boom')
    const late = schemaOf(() => Promise.reject(new Error('late')))
    await expect(validate(late, 1, 'INVALID_INPUT', 'input')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('that answers what is no answer refuses, typed, whoever asks', async () => {
    const unreadable = { path: 5, message: 'm' }
    const answers = [undefined, null, 1, 'no', {}, { issues: 5 }, { issues: [null] }, { issues: [unreadable] }]
    const hostile = {
      get issues() {
        throw new Error('no')
      },
    }
    for (const answer of [...answers, hostile]) {
      const schema = schemaOf(() => answer)
      const late = schemaOf(() => Promise.resolve(answer))
      const checked = validateSync(schema, 1)
      expect(checked).toHaveProperty('issues')
      expect(invalid(checked as RefusedValue, 'INVALID_INPUT', 'input').code).toBe('INVALID_INPUT')
      raises('INVALID_INPUT', () => validate(schema, 1, 'INVALID_INPUT', 'input'))
      await expect(validate(late, 1, 'INVALID_INPUT', 'input')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
  })

  it('can be asked not to wait', () => {
    expect(validateSync(Order, { id: 'a', items: [] })).toEqual({ value: { id: 'a', items: [] } })
    expect(validateSync(Order, 1)).toMatchObject({ issues: [{ message: expect.any(String) }] })
    expect(validateSync(Slow, 'yes')).toBe('async')
    expect(
      validateSync(
        schemaOf(() => Promise.reject(new Error('unheard'))),
        1,
      ),
    ).toBe('async')
  })

  it('shows paths of every kind of segment, and few of many issues', () => {
    const path = ['a', { key: 'b c' }, 3, Symbol('s')]
    const many = Array.from({ length: 1000 }, () => ({ message: 'm', path }))
    const error = raises('INVALID_INPUT', () =>
      validate(
        schemaOf(() => ({ issues: many })),
        1,
        'INVALID_INPUT',
        'input',
      ),
    )
    expect(error.message).toContain('a["b c"][3][Symbol(s)]: m')
    expect(error.message).toContain('and 997 more')
    expect((error.details as { issues: unknown[] }).issues).toHaveLength(50)
  })

  it('is told from other things', () => {
    const callable = Object.assign(
      () => 1,
      schemaOf(() => ({ value: 1 })),
    )
    expect([Order, callable].every(isSchema)).toBe(true)
    const others = [null, undefined, 1, {}, { '~standard': null }, { '~standard': { version: 2, validate() {} } }]
    expect(others.some(isSchema)).toBe(false)
  })
})
