import type { Workflow } from 'triarch'
import { RawStore } from '../ceiling.ts'
import { type Bench, median } from '../measure.ts'
import { type Count, drive, recordsOf, start } from '../subject.ts'

export interface Throughput {
  /** Tasks a second. */
  tasks: number
  ceiling: number
  note: string
}

/** Tasks a second with 1,000 in flight, and the raw ceiling, in turns: median of three after a warm-up. */
export async function throughput(bench: Bench, workflow: Workflow<Count, unknown>, tasks: number): Promise<Throughput> {
  const inFlight = Math.min(1_000, tasks)
  await using subject = await start(`${bench.folder}/engine.db`)
  using raw = new RawStore(`${bench.folder}/raw.db`)
  const { engine, commits } = subject
  const sample = await engine.submit(workflow, { n: 1 })
  await sample.result()
  const records = await recordsOf(sample)
  await drive(engine, workflow, Math.ceil(tasks / 2), inFlight)
  raw.write(records, Math.ceil(tasks / 2), inFlight)
  const before = { ...commits }
  const batch = () => (commits.transitions - before.transitions) / (commits.batches - before.batches)
  const taken: { engine: number[]; raw: number[] } = { engine: [], raw: [] }
  for (let round = 0; round < 3; round++) {
    taken.engine.push(await drive(engine, workflow, tasks, inFlight))
    taken.raw.push(await raw.writing(records, tasks, Math.max(1, Math.round(batch()))))
  }
  return {
    tasks: (tasks / median(taken.engine)) * 1_000,
    ceiling: (tasks / median(taken.raw)) * 1_000,
    note: `${Math.round(batch())} transitions a commit; rounds ${spread(taken.engine)} s`,
  }
}

function spread(times: readonly number[]): string {
  return times.map((ms) => (ms / 1_000).toFixed(2)).join(', ')
}
