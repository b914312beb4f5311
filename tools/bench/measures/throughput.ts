import type { Workflow } from 'triarch'
import { type Bench, type Figure, median, timed } from '../measure.ts'
import { type Count, drive, recordsOf, type Subject, start } from '../subject.ts'

export interface Throughput {
  /** Tasks a second. */
  tasks: number
  ceiling: number
  note: string
  /** What it costs a database server, and this process. */
  costs: Figure[]
}

/** Tasks a second with as many in flight as suits the store, and the raw ceiling, in turns: median of three after a warm-up. */
export async function throughput(bench: Bench, workflow: Workflow<Count, unknown>, tasks: number): Promise<Throughput> {
  const inFlight = Math.min(bench.inFlight, tasks)
  await using subject = await start(await bench.place('engine'))
  await using raw = await bench.raw()
  const { engine, commits } = subject
  const sample = await engine.submit(workflow, { n: 1 })
  await sample.result()
  const records = await recordsOf(sample)
  await drive(engine, workflow, Math.ceil(tasks / 2), inFlight)
  await raw.write(records, Math.ceil(tasks / 2), inFlight)
  const before = { ...commits }
  const run = () => drive(engine, workflow, tasks, inFlight)
  const { taken, spent } = await inTurns(bench, {
    tasks,
    commits,
    run,
    write: (size) => raw.write(records, tasks, size),
  })
  return {
    tasks: (tasks / median(taken.engine)) * 1_000,
    ceiling: (tasks / median(taken.raw)) * 1_000,
    note: `${Math.round(batchSince(before, commits))} transitions a commit; rounds ${spread(taken.engine)} s`,
    costs: figures(spent.engine, spent.raw),
  }
}

interface Turns {
  tasks: number
  commits: Subject['commits']
  /** Runs the tasks; how long that took (ms). */
  run(): Promise<number>
  /** Writes the bare rows of as many, in commits of this size. */
  write(size: number): Promise<unknown>
}

/** Times (ms) and costs of three rounds of the engine and of the bare database, in turns. */
export async function inTurns(bench: Bench, { tasks, commits, run, write }: Turns) {
  const taken: { engine: number[]; raw: number[] } = { engine: [], raw: [] }
  const spent: { engine: Costs[]; raw: Costs[] } = { engine: [], raw: [] }
  const before = { ...commits }
  for (let round = 0; round < 3; round++) {
    const engineCosts = await costing(bench, tasks)
    taken.engine.push(await run())
    spent.engine.push(await engineCosts())
    const size = Math.max(1, Math.round(batchSince(before, commits)))
    const rawCosts = await costing(bench, tasks)
    taken.raw.push(await timed(() => write(size)))
    spent.raw.push(await rawCosts())
  }
  return { taken, spent }
}

/** Transitions a commit. */
function batchSince(before: Subject['commits'], now: Subject['commits']): number {
  return (now.transitions - before.transitions) / (now.batches - before.batches)
}

/** What a task took of processors (µs) and of the server's log (bytes). */
export interface Costs {
  engine: number
  server: number
  wal: number
}

/** Starts to count; the answer is per task. Server and log are NaN where they cannot be known. */
export async function costing({ look }: Bench, tasks: number): Promise<() => Promise<Costs>> {
  const [own, server] = [process.cpuUsage(), await look()]
  return async () => {
    const { user, system } = process.cpuUsage(own)
    const now = await look()
    return {
      engine: (user + system) / tasks,
      server: (((now?.cpu ?? Number.NaN) - (server?.cpu ?? Number.NaN)) * 1_000) / tasks,
      wal: ((now?.wal ?? Number.NaN) - (server?.wal ?? Number.NaN)) / tasks,
    }
  }
}

/** Nothing where there is no server. */
export function figures(engine: readonly Costs[], raw: readonly Costs[] = []): Figure[] {
  const figure = (what: string, unit: string, pick: (costs: Costs) => number): Figure[] => {
    const [value, ceiling] = [median(engine.map(pick)), median(raw.map(pick))]
    if (Number.isNaN(value)) return []
    return [{ what, value, unit, better: 'lower', ...(!Number.isNaN(ceiling) && { ceiling }) }]
  }
  if (engine.every(({ wal }) => Number.isNaN(wal))) return []
  return [
    ...figure('log', 'bytes/task', ({ wal }) => wal),
    ...figure('CPU engine', 'µs/task', ({ engine }) => engine),
    ...figure('CPU server', 'µs/task', ({ server }) => server),
  ]
}

export function spread(times: readonly number[]): string {
  return times.map((ms) => (ms / 1_000).toFixed(2)).join(', ')
}
