// The command line.
import { parseArgs } from 'node:util'

export interface Options {
  orders: number
  seed: number
  /** Where the stores and ledgers are kept; undefined: in a temporary directory, removed at the end. */
  data: string | undefined
  /** Where tasks live. */
  store: Store
  json: boolean
}

export type Store = 'sqlite' | 'postgres'

const stores: readonly string[] = ['sqlite', 'postgres'] satisfies Store[]

export const usage = `Fulfils a shop's orders through unreliable services while processes die, and judges the outcome.

  npm start -- [options]

  --orders N    how many orders: 1 to 100000 (default 300)
  --seed S      which faults and which deaths: a whole number (default 1)
  --data DIR    keep the databases here (default: a temporary directory, removed at the end)
  --store NAME  where tasks live: sqlite (default), or postgres: a server of its own, from npm
  --json        print one JSON document and nothing else
  --help        print this

Exit code: 0 every guarantee held, 1 one broke, 2 wrong usage.
`

export class UsageError extends Error {}

/** What the arguments ask for; null: help. Throws UsageError. */
export function parseOptions(args: string[]): Options | null {
  const { values } = parse(args)
  if (values.help) return null
  if (!stores.includes(values.store)) throw new UsageError(`--store ${values.store}: must be ${stores.join(' or ')}`)
  if (values.data === '') throw new UsageError('--data needs a directory')
  return {
    orders: integer('--orders', values.orders, 1, 100_000),
    seed: integer('--seed', values.seed, 0, Number.MAX_SAFE_INTEGER),
    data: values.data,
    store: values.store as Store,
    json: values.json,
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        orders: { type: 'string', default: '300' },
        seed: { type: 'string', default: '1' },
        data: { type: 'string' },
        store: { type: 'string', default: 'sqlite' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** A whole number within bounds. Throws UsageError. */
export function integer(name: string, text: string, min: number, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(`${name} ${text}: must be a whole number from ${min} to ${max}`)
}
