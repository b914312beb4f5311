import { type Measure, percentile, timed } from '../measure.ts'
import { oneStep, recordsOf, start } from '../subject.ts'

/** Milliseconds. */
const targets = { sqlite: 0.5, postgres: 1.5 }

export const roundtrip: Measure = {
  name: 'roundtrip',
  about: 'one one-step task at a time, submit to result, on an idle system',
  async run({ quick, store, place, raw }) {
    const [warmup, samples] = quick ? [5, 20] : [500, 1_000]
    await using subject = await start(await place('engine'))
    await using bareStore = await raw()
    const once = async () => {
      const task = await subject.engine.submit(oneStep, { n: 1 })
      await task.result()
      return task
    }
    const records = await recordsOf(await once())
    const taken: { engine: number[]; raw: number[] } = { engine: [], raw: [] }
    for (let sample = -warmup; sample < samples; sample++) {
      const engine = await timed(once)
      const bare = await timed(() => bareStore.write(records, 1, 1))
      if (sample < 0) continue
      taken.engine.push(engine)
      taken.raw.push(bare)
    }
    const figure = (percent: number) => ({
      what: `p${percent}`,
      value: percentile(taken.engine, percent),
      unit: 'ms',
      better: 'lower' as const,
      ceiling: percentile(taken.raw, percent),
    })
    return [{ ...figure(50), target: targets[store], note: `${records.length} commits each` }, figure(99)]
  },
}
