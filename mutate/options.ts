import { parseArgs } from 'node:util'
import { targets } from './target.ts'

export interface Options {
  /** Names of targets. */
  in: string[]
  /** Part of the path of the files. */
  only: string
  /** One mutant of so many. */
  every: number
  /** Seeds of the simulation for each. */
  seeds: number
  jobs: number
  /** Lists the mutants instead of judging them. */
  list: boolean
}

export const usage = `npm run mutate                                 every mutant of kernel and SQLite store: hours
npm run mutate -- --in kernel --only apply     those of one target (${Object.keys(targets).join(', ')}), of files named so
npm run mutate -- --every 20 --seeds 10        one of twenty, judged by ten seeds before the suites (40)
npm run mutate -- --jobs 2                     so many at a time
npm run mutate -- --list                       only says which there are
`

export class UsageError extends Error {}

/** Null: help was asked for. Throws UsageError. */
export function parseOptions(args: readonly string[]): Options | null {
  const { in: names, only, every, seeds, jobs, list, help } = parsed(args)
  if (help) return null
  for (const name of names) if (!(name in targets)) throw new UsageError(`there is no target "${name}"`)
  return {
    ...{ in: names, only, list },
    every: whole('every', every, 1),
    seeds: whole('seeds', seeds, 0),
    jobs: whole('jobs', jobs, 1),
  }
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const whole = (standard: string) => ({ ...text, default: standard })
  const names = { ...text, multiple: true as const, default: ['kernel', 'sqlite'] }
  const options = {
    ...{ in: names, only: { ...text, default: '' } },
    ...{ every: whole('1'), seeds: whole('40'), jobs: whole('2'), list: flag, help: flag },
  }
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least)
    throw new UsageError(`--${name} takes a whole number from ${least}`)
  return value
}
