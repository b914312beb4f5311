import { type Measure, median, timed } from '../measure.ts'
import { recordsOf, start, wide } from '../subject.ts'

export const fanout: Measure = {
  name: 'fanout',
  about: 'one task that runs 1,000 steps at once with Promise.all, submit to result',
  async run({ quick, store, place, raw }) {
    const [width, warmup, rounds] = quick ? [20, 1, 3] : [1_000, 10, 21]
    await using subject = await start(await place('engine'))
    await using bareStore = await raw()
    const once = async () => {
      const task = await subject.engine.submit(wide, { n: width })
      await task.result()
      return task
    }
    const records = await recordsOf(await once())
    const taken: { engine: number[]; raw: number[] } = { engine: [], raw: [] }
    for (let round = -warmup; round < rounds; round++) {
      const engine = await timed(once)
      const bare = await timed(() => bareStore.write(records, 1, 1))
      if (round < 0) continue
      taken.engine.push(engine)
      taken.raw.push(bare)
    }
    return [
      {
        what: `${width} wide`,
        value: median(taken.engine),
        unit: 'ms',
        better: 'lower',
        ...(store === 'sqlite' && { target: 50 }),
        ceiling: median(taken.raw),
        note: `${records.length} history records`,
      },
    ]
  },
}
