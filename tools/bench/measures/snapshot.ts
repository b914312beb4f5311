import pg from 'pg'
import { type Measure, percentile, timed } from '../measure.ts'
import { oneStep, start } from '../subject.ts'

/** As a backup does: every version of a row that was written since it began is kept. */
export const snapshot: Measure = {
  name: 'snapshot',
  about:
    'the round trip of a one-step task while somebody keeps an old snapshot open: at its end, against its beginning',
  async run({ quick, place }) {
    const [length, warmup] = quick ? [1_000, 5] : [150_000, 500]
    const url = await place('snapshot')
    await using subject = await start(url)
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    try {
      const once = () => timed(async () => (await subject.engine.submit(oneStep, { n: 1 })).result())
      for (let n = 0; n < warmup; n++) await once()
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class')
      const taken: number[] = []
      for (const until = performance.now() + length; performance.now() < until; ) taken.push(await once())
      const tenth = Math.ceil(taken.length / 10)
      const [first, last] = [percentile(taken.slice(0, tenth), 50), percentile(taken.slice(-tenth), 50)]
      const figure = { unit: 'ms', better: 'lower' as const }
      return [
        { ...figure, what: 'p50, first', value: first },
        { ...figure, what: 'p50, last', value: last, note: `after ${length / 1_000} s and ${taken.length} tasks` },
        { what: 'growth', value: last / first, unit: '×', better: 'lower', target: 1.5 },
      ]
    } finally {
      await reader.end()
    }
  },
}
