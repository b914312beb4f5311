import { Child } from '../child/process.ts'
import { type Measure, percentile, timed } from '../measure.ts'
import { oneStep, start } from '../subject.ts'

/** Milliseconds. */
const targets = { sqlite: 2, postgres: 3 }

export const across: Measure = {
  name: 'across',
  about: 'one one-step task at a time, submitted and awaited by a process that another one runs it for',
  async run({ quick, store, place }) {
    // Compiled by then.
    const [warmup, samples] = quick ? [5, 20] : [500, 1_000]
    const shared = await place('shared')
    await using subject = await start(shared, { roles: [], notices: false })
    await using worker = new Child('./worker.ts', [shared])
    await worker.line()
    const taken: number[] = []
    for (let sample = -warmup; sample < samples; sample++) {
      const ms = await timed(async () => (await subject.engine.submit(oneStep, { n: 1 })).result())
      if (sample >= 0) taken.push(ms)
    }
    return [
      { what: 'p50', value: percentile(taken, 50), unit: 'ms', better: 'lower', target: targets[store] },
      { what: 'p99', value: percentile(taken, 99), unit: 'ms', better: 'lower' },
    ]
  },
}
