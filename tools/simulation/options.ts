import { parseArgs } from 'node:util'
import { type FeatureName, featureNames, isFeature } from './feature.ts'
import type { Plan } from './plan.ts'
import { scenarios } from './scenario.ts'

export type Options =
  | { run: 'seeds'; first: number; count: number; world?: FeatureName }
  | { run: 'scenarios'; names: string[] }
  | { run: 'plan'; plan: Plan }

export const usage = `npm run simulate                              1,000 seeds of random programs under random faults
npm run simulate -- --seeds 20000 --seed 7    so many, beginning with this one (alone when no number is given)
npm run simulate -- --seeds 200 --world line  the same in worlds that have this feature, and no other
npm run simulate -- --scenario takeover       a scenario, hurt at each of its calls in each way; "all" for all of them
npm run simulate -- --plan '{…}'              one plan, as a failure prints it
`

export class UsageError extends Error {}

/** Null: help was asked for. */
export function parseOptions(args: readonly string[]): Options | null {
  const { seeds, seed, scenario, plan, world, help } = parsed(args)
  if (help) return null
  if (plan !== undefined) return { run: 'plan', plan: planOf(plan) }
  if (scenario !== undefined) return { run: 'scenarios', names: namesOf(scenario) }
  const first = number('seed', seed ?? '1')
  return {
    run: 'seeds',
    first,
    count: number('seeds', seeds ?? (seed === undefined ? '1000' : '1')),
    ...(world !== undefined && { world: worldOf(world) }),
  }
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  const options = {
    seeds: text,
    seed: text,
    scenario: text,
    plan: text,
    world: text,
    help: { type: 'boolean' },
  } as const
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

function worldOf(name: string): FeatureName {
  if (isFeature(name)) return name
  throw new UsageError(`there is no world "${name}"; there are: ${featureNames.join(', ')}`)
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
