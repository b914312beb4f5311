import { rmSync, statSync } from 'node:fs'
import { fill } from '../fill.ts'
import { type Measure, median } from '../measure.ts'
import { drive, start, threeSteps } from '../subject.ts'

export const growth: Measure = {
  name: 'growth',
  about: 'throughput of `steps` in a store with 1,000,000 finished tasks against an empty one, in turns',
  async run({ quick, folder }) {
    const [stored, tasks, pairs] = quick ? [1_000, 50, 1] : [1_000_000, 15_000, 5]
    const [empty, full] = [`${folder}/empty.db`, `${folder}/full.db`]
    await fill(full, stored)
    const size = statSync(full).size / 2 ** 30
    const speed = async (path: string) => {
      await using subject = await start(path)
      await drive(subject.engine, threeSteps, Math.ceil(tasks / 3))
      return (tasks * 3_000) / (await drive(subject.engine, threeSteps, tasks))
    }
    const speeds: { empty: number[]; full: number[] } = { empty: [], full: [] }
    const turn = {
      empty: async () => {
        for (const suffix of ['', '-wal', '-shm']) rmSync(empty + suffix, { force: true })
        speeds.empty.push(await speed(empty))
      },
      full: async () => void speeds.full.push(await speed(full)),
    }
    await turn.empty()
    await turn.full()
    speeds.empty.length = 0
    speeds.full.length = 0
    for (let pair = 0; pair < pairs; pair++) {
      // The order changes from pair to pair, so that what slows down over time slows both alike.
      for (const which of pair % 2 === 0 ? (['empty', 'full'] as const) : (['full', 'empty'] as const))
        await turn[which]()
    }
    const kept = median(speeds.full.map((value, pair) => value / (speeds.empty[pair] ?? Number.NaN))) * 100
    const note = `median of ${pairs} pairs; the full store has ${size.toFixed(1)} GiB`
    return [
      { what: 'kept', value: kept, unit: '%', better: 'higher', target: 85, note },
      { what: 'empty', value: median(speeds.empty), unit: 'steps/s', better: 'higher' },
      { what: `${stored} tasks`, value: median(speeds.full), unit: 'steps/s', better: 'higher' },
    ]
  },
}
