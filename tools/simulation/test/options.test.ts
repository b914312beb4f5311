import { expect, it } from 'vitest'
import { parseOptions, UsageError } from '../options.ts'
import { calmPlan } from '../plan.ts'

it('runs a thousand seeds, so many, one alone, a scenario, or a plan', () => {
  expect(parseOptions([])).toEqual({ run: 'seeds', first: 1, count: 1_000 })
  expect(parseOptions(['--seeds', '20', '--seed', '7'])).toEqual({ run: 'seeds', first: 7, count: 20 })
  expect(parseOptions(['--seed', '7'])).toEqual({ run: 'seeds', first: 7, count: 1 })
  expect(parseOptions(['--scenario', 'takeover'])).toEqual({ run: 'scenarios', names: ['takeover'] })
  expect(parseOptions(['--scenario', 'all'])).toMatchObject({ run: 'scenarios' })
  expect(parseOptions(['--plan', JSON.stringify(calmPlan())])).toEqual({ run: 'plan', plan: calmPlan() })
  expect(parseOptions(['--help'])).toBeNull()
})

it.each([
  [['--seeds', 'many'], '--seeds takes a whole number'],
  [['--seed', '-1'], 'argument is ambiguous'],
  [['--scenario', 'none'], 'there is no scenario "none"'],
  [['--plan', '{'], '--plan takes a plan'],
  [['--speed', '9'], 'Unknown option'],
])('says what is wrong with %j', (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError)
  expect(() => parseOptions(args)).toThrow(message)
})
