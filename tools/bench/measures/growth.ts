import { looks } from '../looks.ts'
import { type Measure, median } from '../measure.ts'
import * as postgres from '../postgres/fill.ts'
import * as sqlite from '../sqlite/fill.ts'
import { drive, start, threeSteps } from '../subject.ts'

export const growth: Measure = {
  name: 'growth',
  about:
    'throughput of `steps` in a store with many finished tasks against an empty one, in turns; and what each look costs there',
  async run({ quick, store, stored: told, inFlight, place, size: sizeOf }) {
    // Short turns: what else the machine does then slows both alike. The empty store is never far from empty.
    const [usual, tasks, warmup, pairs] = quick ? [1_000, 20, 1, 2] : [1_000_000, 2_000, 5, 25]
    const stored = told ?? usual
    const path = await place('full')
    await { sqlite, postgres }[store].fill(path, stored)
    const size = (await sizeOf(path)) / 2 ** 30
    const bare = await place('empty')
    const seen = await looks(path, bare, quick)
    await using empty = await start(bare)
    await using full = await start(path)
    const speeds: { empty: number[]; full: number[] } = { empty: [], full: [] }
    const turn = async (subject: typeof empty) =>
      (tasks * 3_000) / (await drive(subject.engine, threeSteps, tasks, inFlight))
    for (let pair = -warmup; pair < pairs; pair++) {
      const first = pair % 2 === 0 ? empty : full
      const one = await turn(first)
      const other = await turn(first === empty ? full : empty)
      if (pair < 0) continue
      speeds.empty.push(first === empty ? one : other)
      speeds.full.push(first === empty ? other : one)
    }
    const kept = median(speeds.full.map((speed, pair) => speed / (speeds.empty[pair] ?? Number.NaN))) * 100
    const note = `median of ${pairs} pairs; the full store has ${size.toFixed(1)} GiB`
    return [
      { what: 'kept', value: kept, unit: '%', better: 'higher', target: 85, note },
      { what: 'empty', value: median(speeds.empty), unit: 'steps/s', better: 'higher' },
      { what: `${stored} tasks`, value: median(speeds.full), unit: 'steps/s', better: 'higher' },
      ...seen,
    ]
  },
}
