import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../examples/orders/options.ts'
import { parseOptions, usage } from '../options.ts'
import { plan, SHORTEST, shortest, usual } from '../plan.ts'
import { settings } from '../settings.ts'

describe('the plan', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(plan({ seed: 7, duration: 60_000 })).toEqual(plan({ seed: 7, duration: 60_000 }))
    expect(plan({ seed: 7, duration: 60_000 })).not.toEqual(plan({ seed: 8, duration: 60_000 }))
  })

  it('has every kind of fault in the shortest storm, whatever the seed', () => {
    for (let seed = 0; seed < 300; seed++) {
      const planned = new Set(plan({ seed, duration: SHORTEST }).map(({ kind }) => kind))
      expect([seed, usual.filter((kind) => !planned.has(kind))]).toEqual([seed, []])
    }
  })

  it('has those kinds only that are asked for', () => {
    const alone = plan({ seed: 1, duration: shortest(['hold']), kinds: ['hold'] })
    expect(new Set(alone.map(({ kind }) => kind))).toEqual(new Set(['hold']))
  })

  it('lets freezes and partitions outlast the lease, and stalls not', () => {
    for (const { kind, lasts } of plan({ seed: 1, duration: 600_000 })) {
      if (kind.startsWith('freeze') || kind === 'partition') expect(lasts).toBeGreaterThan(settings.lease)
      if (kind === 'stall') expect(lasts).toBeLessThan(settings.lease)
    }
  })
})

describe('the options', () => {
  it('have defaults', () => {
    expect(parseOptions([])).toEqual({
      duration: 60_000,
      seed: 1,
      settle: 120_000,
      data: undefined,
      json: false,
      kinds: usual,
    })
    expect(parseOptions(['--help'])).toBeNull()
    expect(usage).toContain('--seconds N')
  })

  it.each([
    [['--seconds', '3'], '--seconds 3: must be a whole number from'],
    [['--seed', '-1'], ''],
    [['--seed', 'x'], '--seed x: must be'],
    [['--settle', '0'], '--settle 0: must be'],
    [['--data', ''], '--data needs a directory'],
    [['--sead', '1'], "Unknown option '--sead'"],
    [['--only', 'kill everybody'], '--only kill everybody: must be some of'],
    [['more'], 'Unexpected argument'],
  ])('%j is wrong usage', (args, message) => {
    expect(() => parseOptions(args)).toThrow(UsageError)
    expect(() => parseOptions(args)).toThrow(message)
  })
})
