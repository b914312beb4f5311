import { statSync } from 'node:fs'
import type { Measure } from '../measure.ts'
import { drive, recordsOf, start, threeSteps } from '../subject.ts'

export const bytes: Measure = {
  name: 'bytes',
  about: 'growth of the file by three-step tasks with small payloads, after a checkpoint',
  async run({ quick, place, raw }) {
    const tasks = quick ? 100 : 20_000
    const path = await place('engine')
    let records: string[] = []
    const grown = async (count: number) => {
      {
        // Closing the last connection writes the log into the file.
        await using subject = await start(path)
        const sample = await subject.engine.submit(threeSteps, { n: 1 })
        await sample.result()
        records = await recordsOf(sample)
        await drive(subject.engine, threeSteps, count - 1)
      }
      return statSync(path).size
    }
    const before = await grown(1)
    const after = await grown(tasks)
    {
      await using bare = await raw()
      await bare.write(records, tasks, 1_000)
    }
    const events = records.reduce((sum, record) => sum + Buffer.byteLength(record), 0)
    const note = `${records.length} records with ${events} bytes of events`
    const ceiling = statSync(await place('raw')).size / tasks
    return [{ what: 'a task', value: (after - before) / tasks, unit: 'bytes', better: 'lower', ceiling, note }]
  },
}
