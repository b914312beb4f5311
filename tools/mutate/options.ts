import { parseArgs } from 'node:util'
import { targets } from './target.ts'

export interface Options {
  /** Names of targets. */
  in: string[]
  /** Part of the path of the files. */
  only: string
  /** The n-th of so many parts. */
  shard: { n: number; of: number }
  /** Seeds of the simulation for each. */
  seeds: number
  /** Part of the path of the tests that judge. */
  by: string
  /** So many tests of a file judge a mutant at most. */
  tests: number
  /** Where verdicts are kept. */
  journal: string
  /** Judges anew what survived. */
  again: boolean
  /** Lists the mutants instead of judging them. */
  list: boolean
}

export const usage = `npm run mutate                                 every mutant of kernel and SQLite store
npm run mutate -- --in kernel --only apply     those of one target (${Object.keys(targets).join(', ')}), of files named so
npm run mutate -- --shard 1/20 --seeds 10      the first of twenty parts, judged by ten seeds (20) and the suites
npm run mutate -- --by model/ --seeds 0        judged by the tests named so alone
npm run mutate -- --in postgres --tests 20     at most twenty tests of a file judge each (all that come by it)
npm run mutate -- --journal <file>             keeps the verdicts there and goes on where they end (.mutate.jsonl)
npm run mutate -- --again                      judges anew what survived before; the noticed are not judged twice
npm run mutate -- --list                       only says which there are
`

export class UsageError extends Error {}

/** Null: help was asked for. Throws UsageError. */
export function parseOptions(args: readonly string[]): Options | null {
  const { in: names, only, shard, seeds, by, tests, journal, again, list, help } = parsed(args)
  if (help) return null
  for (const name of names) if (!(name in targets)) throw new UsageError(`there is no target "${name}"`)
  return {
    in: names,
    only,
    shard: part(shard),
    seeds: whole('seeds', seeds),
    by,
    tests: tests === undefined ? Number.POSITIVE_INFINITY : whole('tests', tests),
    journal,
    again,
    list,
  }
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const names = { ...text, multiple: true as const, default: ['kernel', 'sqlite'] }
  const options = {
    ...{ in: names, only: { ...text, default: '' }, shard: { ...text, default: '1/1' } },
    ...{
      by: { ...text, default: '' },
      seeds: { ...text, default: '20' },
      tests: text,
      journal: { ...text, default: '.mutate.jsonl' },
    },
    ...{ again: flag, list: flag, help: flag },
  }
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new UsageError(`--${name} takes a whole number from 0`)
  return value
}

function part(text: string): Options['shard'] {
  const [, n = 0, of = 0] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number)
  if (n < 1 || n > of) throw new UsageError('--shard takes which of how many parts, like 1/20')
  return { n, of }
}
