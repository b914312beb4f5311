import { type Measure, median, percentile, timed } from '../measure.ts'
import { oneStep, recordsOf, start } from '../subject.ts'

const IN_FLIGHT = 200
/** Submissions a second. */
const targets = { sqlite: 30_000, postgres: 20_000 }

export const submit: Measure = {
  name: 'submit',
  about: 'tasks submitted by a process that runs none, hundreds in flight, and one alone; until they are durable',
  async run({ quick, store, place, raw }) {
    const [count, rounds, samples] = quick ? [100, 1, 20] : [20_000, 3, 500]
    await using subject = await start(await place('submitted'), { roles: [], notices: false })
    await using bareStore = await raw()
    const { engine } = subject
    const one = () => engine.submit(oneStep, { n: 1 })
    const [first] = await recordsOf(await one())
    const crowd = async () => {
      let next = 0
      const customer = async () => {
        while (next++ < count) await one()
      }
      await Promise.all(Array.from({ length: IN_FLIGHT }, customer))
    }
    const taken: { engine: number[]; raw: number[] } = { engine: [], raw: [] }
    for (let round = -1; round < rounds; round++) {
      const [own, bare] = [await timed(crowd), await timed(() => bareStore.write([first as string], count, IN_FLIGHT))]
      if (round < 0) continue
      taken.engine.push((count / own) * 1_000)
      taken.raw.push((count / bare) * 1_000)
    }
    const alone: number[] = []
    for (let sample = 0; sample < samples; sample++) alone.push(await timed(one))
    const speed = { unit: '/s', better: 'higher', ceiling: median(taken.raw), target: targets[store] } as const
    return [
      { what: 'submissions', value: median(taken.engine), ...speed, note: `${IN_FLIGHT} in flight` },
      { what: 'one alone p50', value: percentile(alone, 50), unit: 'ms', better: 'lower' },
    ]
  },
}
