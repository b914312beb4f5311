// The command line.
import { parseArgs } from 'node:util'
import { integer, UsageError } from '../../examples/orders/options.ts'
import { type Kind, kinds, SHORTEST, shortest, usual } from './plan.ts'

export interface Options {
  /** How long faults go on (ms). */
  duration: number
  seed: number
  /** Where everything is kept; undefined: a temporary directory, removed at the end. */
  data: string | undefined
  /** How long all may take to come to rest once the faults are over (ms). */
  settle: number
  json: boolean
  /** What strikes. */
  kinds: readonly Kind[]
}

export const usage = `Fulfils orders on PostgreSQL while processes die and stand still, connections break, and the database restarts;
then lets everything come to rest, and judges.

  npm run chaos -- [options]

  --seconds N   how long faults go on: ${Math.ceil(SHORTEST / 1000)} (with --only, fewer) to 86400 (default 60)
  --seed S      which faults, and when: a whole number (default 1)
  --settle N    seconds until all must be at rest afterwards: 1 to 600 (default 120)
  --data DIR    keep the database, the ledgers and the logs here (default: a temporary directory, removed at the end)
  --only KINDS  these kinds of faults alone, separated by commas: ${kinds.join(', ')}
  --json        print one JSON document and nothing else
  --help        print this

Exit code: 0 every guarantee held, 1 one broke or a kind of fault never fired, 2 wrong usage.
`

/** What the arguments ask for; null: help. Throws UsageError. */
export function parseOptions(args: string[]): Options | null {
  const values = parse(args)
  if (values.help) return null
  if (values.data === '') throw new UsageError('--data needs a directory')
  const chosen = values.only === undefined ? usual : values.only.split(',').map(kindOf)
  return {
    duration: 1_000 * integer('--seconds', values.seconds, Math.ceil(shortest(chosen) / 1_000), 86_400),
    seed: integer('--seed', values.seed, 0, 2 ** 27),
    settle: 1_000 * integer('--settle', values.settle, 1, 600),
    data: values.data,
    json: values.json,
    kinds: chosen,
  }
}

function kindOf(name: string): Kind {
  const kind = kinds.find((one) => one === name.trim())
  if (kind === undefined) throw new UsageError(`--only ${name}: must be some of ${kinds.join(', ')}`)
  return kind
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        seconds: { type: 'string', default: '60' },
        seed: { type: 'string', default: '1' },
        settle: { type: 'string', default: '120' },
        data: { type: 'string' },
        only: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
