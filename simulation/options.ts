import { parseArgs } from 'node:util'
import type { Plan } from './plan.ts'
import { scenarios } from './scenario.ts'

export type Options =
  | { run: 'seeds'; first: number; count: number }
  | { run: 'scenarios'; names: string[] }
  | { run: 'plan'; plan: Plan }

export const usage = `npm run simulate                              1,000 seeds of random programs under random faults
npm run simulate -- --seeds 20000 --seed 7    so many, beginning with this one (alone when no number is given)
npm run simulate -- --scenario takeover       a scenario, hurt at each of its calls in each way; "all" for all of them
npm run simulate -- --plan '{…}'              one plan, as a failure prints it
`

export class UsageError extends Error {}

/** Null: help was asked for. */
export function parseOptions(args: readonly string[]): Options | null {
  const { seeds, seed, scenario, plan, help } = parsed(args)
  if (help) return null
  if (plan !== undefined) return { run: 'plan', plan: planOf(plan) }
  if (scenario !== undefined) return { run: 'scenarios', names: namesOf(scenario) }
  const first = number('seed', seed ?? '1')
  return { run: 'seeds', first, count: number('seeds', seeds ?? (seed === undefined ? '1000' : '1')) }
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  const options = { seeds: text, seed: text, scenario: text, plan: text, help: { type: 'boolean' } } as const
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function number(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UsageError(`--${name} takes a whole number from 1, not "${text}"`)
  return value
}

function namesOf(scenario: string): string[] {
  if (scenario === 'all') return Object.keys(scenarios)
  if (scenario in scenarios) return [scenario]
  throw new UsageError(`there is no scenario "${scenario}"; there are: all, ${Object.keys(scenarios).join(', ')}`)
}

function planOf(text: string): Plan {
  try {
    return JSON.parse(text) as Plan
  } catch {
    throw new UsageError('--plan takes a plan as a failure prints it: JSON in quotes')
  }
}
