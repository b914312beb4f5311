import type { Workflow } from 'triarch'
import { type Bench, type Figure, median, timed } from '../measure.ts'
import { type Count, drive, recordsOf, start } from '../subject.ts'

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
  const batch = () => (commits.transitions - before.transitions) / (commits.batches - before.batches)
  const taken: { engine: number[]; raw: number[] } = { engine: [], raw: [] }
  const spent: { engine: Costs[]; raw: Costs[] } = { engine: [], raw: [] }
  for (let round = 0; round < 3; round++) {
    const engineCosts = await costing(bench, tasks)
    taken.engine.push(await drive(engine, workflow, tasks, inFlight))
    spent.engine.push(await engineCosts())
    const size = Math.max(1, Math.round(batch()))
    const rawCosts = await costing(bench, tasks)
    taken.raw.push(await timed(() => raw.write(records, tasks, size)))
    spent.raw.push(await rawCosts())
  }
  return {
    tasks: (tasks / median(taken.engine)) * 1_000,
    ceiling: (tasks / median(taken.raw)) * 1_000,
    note: `${Math.round(batch())} transitions a commit; rounds ${spread(taken.engine)} s`,
    costs: figures(spent.engine, spent.raw),
  }
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
