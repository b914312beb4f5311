import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/definition/agent.ts'
import { ownRescue, workflow } from '../../src/definition/workflow.ts'
import type { ErrorCode } from '../../src/error/catalogue.ts'
import { checkOptions } from '../../src/value/options.ts'
import { raises } from '../value/raises.ts'

const run = () => 1

describe('an agent', () => {
  it('groups actions under its name', () => {
    const payments = agent('payments', { concurrency: 20 })
    const definition = { run, attemptWithin: '5s' as const }
    const charge = payments.action('charge', definition)
    expect(charge).toMatchObject({ name: 'charge', key: 'payments.charge' })
    expect(charge.agent).toBe(payments)
    expect(charge.definition).toBe(definition)
    expect(payments.concurrency).toBe(20)
    expect([...payments.actions]).toEqual([['charge', charge]])
    expect(agent('other').concurrency).toBe(100)
    expect(Object.isFrozen(charge)).toBe(true)
  })

  it('refuses a second action of the same name', () => {
    const payments = agent('payments')
    const first = payments.action('charge', { run })
    const error = raises('DUPLICATE_DEFINITION', () => payments.action('charge', { run }))
    expect(error.message).toContain('payments.charge')
    expect(payments.actions.get('charge')).toBe(first)
  })

  it('refuses names and options that make no sense, and keeps nothing of them', () => {
    for (const name of ['', '-a', 'a.b', 'a b', 'é', 'a'.repeat(101), 'a\n', null as never, 5 as never]) {
      raises('INVALID_NAME', () => agent(name))
      raises('INVALID_NAME', () => agent('a').action(name, { run }))
      raises('INVALID_NAME', () => workflow(name, { run }))
    }
    for (const concurrency of [0, 1.5, 1e9, Number.NaN]) raises('INVALID_OPTION', () => agent('a', { concurrency }))
    raises('UNKNOWN_OPTION', () => agent('a', { concurency: 1 } as never))
    const shop = agent('shop')
    const wrong: [unknown, ErrorCode][] = [
      [undefined, 'INVALID_OPTION'],
      [{}, 'INVALID_OPTION'],
      [{ run: 1 }, 'INVALID_OPTION'],
      [{ run, undo: 1 }, 'INVALID_OPTION'],
      [{ run, verify: true }, 'INVALID_OPTION'],
      [{ run, input: { parse: run } }, 'INVALID_OPTION'],
      [{ run, output: String }, 'INVALID_OPTION'],
      [{ run, atemptWithin: 1 }, 'UNKNOWN_OPTION'],
      [{ run, attemptWithin: '5 s' }, 'INVALID_DURATION'],
      [{ run, retry: { attempts: 0 } }, 'INVALID_OPTION'],
    ]
    for (const [definition, code] of wrong) raises(code, () => shop.action('x', definition as never))
    expect(shop.actions.size).toBe(0)
  })
})

describe('a workflow', () => {
  it('has a name, a version and its definition', () => {
    const definition = { input: z.object({ n: z.number() }), run: ({ n }: { n: number }) => n }
    expect(workflow('count', definition)).toEqual({ name: 'count', version: '1', definition })
    expect(workflow('count', { version: '2024-06.b+1', run }).version).toBe('2024-06.b+1')
  })

  it('rescues its own errors as its steps, except by a skip', () => {
    const rescueOf = (options: object) => ownRescue(workflow('w', { run, ...options }))
    expect(rescueOf({})).toBe('compensate')
    expect(rescueOf({ rescue: 'pause' })).toBe('pause')
    expect(rescueOf({ rescue: 'fail' })).toBe('fail')
    expect(rescueOf({ rescue: 'skip' })).toBe('compensate')
    expect(rescueOf({ rescue: { skip: 1 } })).toBe('compensate')
  })

  it('refuses what makes no sense', () => {
    const wrong: [unknown, ErrorCode][] = [
      [null, 'INVALID_OPTION'],
      [{}, 'INVALID_OPTION'],
      [{ run, version: '' }, 'INVALID_NAME'],
      [{ run, version: 1 }, 'INVALID_NAME'],
      [{ run, rescue: 'retry' }, 'INVALID_OPTION'],
      [{ run, taskWithin: 0 }, 'INVALID_DURATION'],
      [{ run, priority: 'high' }, 'INVALID_OPTION'],
      [{ run, input: {} }, 'INVALID_OPTION'],
      [{ run, retry: {} }, 'UNKNOWN_OPTION'],
    ]
    for (const [definition, code] of wrong) raises(code, () => workflow('w', definition as never))
  })
})

describe('an unknown option', () => {
  interface Options {
    attemptWithin?: number
    retry?: number
    rescue?: number
  }
  const allowed = ['attemptWithin', 'retry', 'rescue'] as const
  const check = (given: unknown) => checkOptions('x', given as Options, allowed)
  const messageFor = (key: string) => raises('UNKNOWN_OPTION', () => check({ [key]: 1 })).message

  it('is answered with the nearest known one, or with all', () => {
    expect(messageFor('attemptwithin')).toBe('x: unknown option "attemptwithin", did you mean "attemptWithin"?')
    expect(messageFor('rety')).toContain('did you mean "retry"?')
    expect(messageFor('banana')).toContain('known options: attemptWithin, retry, rescue')
    expect(messageFor('k'.repeat(1e5)).length).toBeLessThan(300)
  })

  it('does not compile where the names are not those of the options', () => {
    const given: Options = {}
    // @ts-expect-error: `rescue` is missing
    checkOptions('x', given, ['attemptWithin', 'retry'])
    // @ts-expect-error: there is no `banana`
    checkOptions('x', given, ['attemptWithin', 'retry', 'rescue', 'banana'])
  })

  it('is no matter when there are no options, and options must be an object', () => {
    check(undefined)
    check({ retry: undefined })
    for (const given of [null, 1, 'x', [], () => 1]) raises('INVALID_OPTION', () => check(given))
  })
})
