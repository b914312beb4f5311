// The command line.
import { parseArgs } from 'node:util'

export interface Options {
  orders: number
  seed: number
  /** Where the stores and ledgers are; undefined: in a temporary directory. */
  data: string | undefined
  /** They stay when the run is over; one that was given stays in any case. */
  keep: boolean
  /** Where tasks live. */
  store: Store
  /** What the mail service's agent is. */
  agent: AgentKind
  json: boolean
}

export type Store = 'sqlite' | 'postgres'
/** Part of each node, or a process in Python that has nothing but the shop's URL. */
export type AgentKind = 'node' | 'python'

const stores: readonly string[] = ['sqlite', 'postgres'] satisfies Store[]
const agentKinds: readonly string[] = ['node', 'python'] satisfies AgentKind[]

export const usage = `Fulfils a shop's orders through unreliable services while processes die, and judges the outcome.

  npm start -- [options]

  --orders N    how many orders: 1 to 100000 (default 300)
  --seed S      which faults and which deaths: a whole number (default 1)
  --keep        leave the databases where they are, and say how to look into them
  --data DIR    the same, in a directory of yours (default: a temporary one, removed at the end)
  --store NAME  where tasks live: sqlite (default), or postgres: a server of its own, from npm
  --agent KIND  what sends the mails: node (default, part of each node), or python: a process with nothing but the URL
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
  if (!agentKinds.includes(values.agent))
    throw new UsageError(`--agent ${values.agent}: must be ${agentKinds.join(' or ')}`)
  if (values.data === '') throw new UsageError('--data needs a directory')
  return {
    orders: integer('--orders', values.orders, 1, 100_000),
    seed: integer('--seed', values.seed, 0, Number.MAX_SAFE_INTEGER),
    data: values.data,
    keep: values.keep || values.data !== undefined,
    store: values.store as Store,
    agent: values.agent as AgentKind,
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
        keep: { type: 'boolean', default: false },
        store: { type: 'string', default: 'sqlite' },
        agent: { type: 'string', default: 'node' },
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
