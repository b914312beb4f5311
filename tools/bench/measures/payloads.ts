import { randomBytes } from 'node:crypto'
import { agent, type Triarch, type Workflow, workflow } from 'triarch'
import { type Measure, median } from '../measure.ts'
import { drive, start } from '../subject.ts'
import { type Costs, figures, inTurns, spread } from './throughput.ts'

/** Characters of each value. */
const SIZE = 10_000
/** The input, and what three steps give. */
const DISTINCT = 4 * SIZE

/** Nothing makes it smaller. */
const noise = randomBytes(3 * 2 ** 18).toString('base64')
let made = 0
/** No two are alike. Parts of one text, for to draw each anew would cost the engine's thread a quarter of what a task does. */
const value = () => {
  const at = Math.floor(Math.random() * (noise.length - SIZE))
  return String(++made).padStart(8, '0') + noise.slice(at, at + SIZE - 8)
}

const press = agent('press', { concurrency: 100_000 })
const print = press.action('print', { run: async (_: string) => value() })

const pages: Workflow<string, string> = workflow('pages', {
  async run(input: string, task) {
    const first = await task.run(print, input)
    const second = await task.run(print, first)
    return task.run(print, second)
  },
})

const options = { workflows: [pages], agents: [press] }

export const payloads: Measure = {
  name: 'payloads',
  about: 'three-step tasks that hand on 10 KB of text which nothing makes smaller; what the store keeps of them',
  async run(bench) {
    const tasks = bench.quick ? 30 : 3_000
    const inFlight = Math.min(bench.inFlight, tasks)
    const place = await bench.place('engine')
    const round = (engine: Triarch, count: number) => drive(engine, pages, count, inFlight, value)
    const warm = async () => {
      await using subject = await start(place, options)
      await round(subject.engine, Math.ceil(tasks / 2))
    }
    await warm()
    // Once nobody has it open, nothing of it is in a log.
    const before = await bench.size(place)
    const rounds = async () => {
      await using subject = await start(place, options)
      await using raw = await bench.raw()
      const { engine, store, commits } = subject
      const sample = await engine.submit(pages, value())
      await sample.result()
      const records = (await store.records(sample.id, 0, 100)).map(({ events }) => events)
      return await inTurns(bench, {
        ...{ tasks, commits, run: () => round(engine, tasks) },
        write: (size) => raw.write(records, tasks, size),
      })
    }
    const { taken, spent } = await rounds()
    const kept = ((await bench.size(place)) - before) / (3 * tasks + 1) / DISTINCT
    const perSecond = (times: readonly number[]) => (tasks / median(times)) * 1_000
    const own = (all: readonly Costs[]) => median(all.map(({ engine }) => engine))
    return [
      {
        ...{ what: 'tasks', value: perSecond(taken.engine), unit: '/s', better: 'higher', target: 4_000 },
        ceiling: perSecond(taken.raw),
        note: `rounds ${spread(taken.engine)} s`,
      },
      {
        ...{ what: 'kept', value: kept, unit: '×', better: 'lower', target: 1.3 },
        note: `of ${DISTINCT} bytes that differ`,
      },
      ...(bench.store === 'sqlite'
        ? [
            {
              what: 'CPU engine',
              value: own(spent.engine),
              unit: 'µs/task',
              better: 'lower',
              ceiling: own(spent.raw),
            } as const,
          ]
        : figures(spent.engine, spent.raw)),
    ]
  },
}
