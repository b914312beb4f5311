import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { Child } from '../child/process.ts'
import type { Figure, Measure } from '../measure.ts'
import { drive, start, threeSteps } from '../subject.ts'

/** What one task costs the database, and what the processes keep of it. */
interface Cost {
  transactions: number
  bytes: number
  connections: number
}

/** A pool lets a connection go that was idle for half a minute. */
const UNTIL_AT_REST = 65_000

/** Tasks that are under way at a time in a fleet: one of its pairs of processes has a share of them. */
const IN_FLIGHT = 256

export const fleet: Measure = {
  name: 'fleet',
  about:
    'what a three-step task costs the database with 20 processes of schedulers and 20 of agents, beside one of each that has as much to do as one of those',
  async run({ quick, place }) {
    const [crowd, tasks] = quick ? [2, 10] : [20, 2_000]
    const pair = await measured(await place('pair'), 1, { tasks, inFlight: Math.ceil(IN_FLIGHT / crowd), quick })
    const alone = await measured(await place('alone'), 1, { tasks, inFlight: IN_FLIGHT, quick })
    const many = await measured(await place('fleet'), crowd, { tasks, inFlight: IN_FLIGHT, quick })
    const share = (what: 'transactions' | 'bytes', digits: number): Figure => ({
      ...{ what: `${what} a task`, value: many[what] / pair[what], unit: '×', better: 'lower', target: 1.5 },
      note: `${many[what].toFixed(digits)} with ${crowd} + ${crowd} processes, ${pair[what].toFixed(digits)} with 1 + 1; ${alone[what].toFixed(digits)} with 1 + 1 that have all of it to do`,
    })
    return [
      share('transactions', 2),
      share('bytes', 0),
      {
        ...{ what: 'connections at rest', value: many.connections, unit: 'a process', better: 'lower', target: 4 },
        note: `${pair.connections} with 1 + 1`,
      },
    ]
  },
}

interface Load {
  tasks: number
  inFlight: number
  quick: boolean
}

async function measured(url: string, each: number, { tasks, inFlight, quick }: Load): Promise<Cost> {
  // Who submits has no part in the work.
  await using customers = await start(url, { roles: [] })
  await using children = new AsyncDisposableStack()
  const made = ['./scheduler.ts', './agent.ts'].flatMap((script) =>
    Array.from({ length: each }, () => children.use(new Child(script, [url]))),
  )
  await Promise.all(made.map((child) => child.line()))
  const counter = new pg.Client({ connectionString: url })
  await counter.connect()
  children.defer(() => counter.end())
  const count = async () => {
    await pause(2_000) // sessions tell of their transactions at most once a second
    const { rows } = await counter.query(
      `SELECT xact_commit + xact_rollback AS transactions, pg_current_wal_insert_lsn() - '0/0' AS bytes
       FROM pg_stat_database WHERE datname = current_database()`,
    )
    return { transactions: Number(rows[0]?.transactions), bytes: Number(rows[0]?.bytes), at: performance.now() }
  }
  const spent = async (work: () => Promise<unknown>) => {
    const before = await count()
    await work()
    const now = await count()
    const seconds = (now.at - before.at) / 1_000
    return { transactions: now.transactions - before.transactions, bytes: now.bytes - before.bytes, seconds }
  }
  await drive(customers.engine, threeSteps, tasks / 2, inFlight)
  const busy = await spent(() => drive(customers.engine, threeSteps, tasks, inFlight))
  if (!quick) await pause(UNTIL_AT_REST)
  const { rows } = await counter.query(
    `SELECT count(*) AS n FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
  )
  const idle = await spent(() => pause(quick ? 100 : 10_000))
  const own = (what: 'transactions' | 'bytes') => (busy[what] - (idle[what] / idle.seconds) * busy.seconds) / tasks
  return { transactions: own('transactions'), bytes: own('bytes'), connections: Number(rows[0]?.n) / (2 * each + 1) }
}
