import { agent, type Workflow, workflow } from 'triarch'
import { type Figure, type Measure, timed } from '../measure.ts'
import { memory } from '../memory.ts'
import { start } from '../subject.ts'

const own = agent('batched', { concurrency: 100_000 })
const act = own.action('act', { run: async (n: number) => n })
const child: Workflow<number, number> = workflow('batched-child', { run: (n: number, task) => task.run(act, n) })
const all = own.batch('all', {
  workflow: child,
  concurrency: 2_000,
  items: (count: number, { offset, limit }) =>
    Array.from({ length: Math.min(limit, count - offset) }, (_, n) => offset + n),
})
const flow = workflow('batch-of', { plan: (count: number, plan) => plan.step(all, count).output })

export const batch: Measure = {
  name: 'batch',
  about: 'one batch of one-step children, submit to result; small against large',
  async run({ quick, place }) {
    const [small, large] = quick ? [200, 400] : [10_000, 100_000]
    await using subject = await start(await place('engine'), { agents: [own], workflows: [child, flow] })
    const once = async (count: number) => {
      const cpu = process.cpuUsage()
      let peak = 0
      const watch = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage().heapUsed)
      }, 50)
      const task = await subject.engine.submit(flow, count)
      const wall = await timed(() => task.result())
      clearInterval(watch)
      const { user, system } = process.cpuUsage(cpu)
      const events = (await task.export()).records.flatMap((record) => record.events)
      const bytes = JSON.stringify(events).length
      return { wall, cpu: (user + system) / 1_000, peak, events: events.length, bytes }
    }
    await once(small)
    const before = memory().heap
    const few = await once(small)
    const many = await once(large)
    const held = memory().heap - before
    const a = (run: { cpu: number }, count: number) => (run.cpu / count) * 1_000
    const figures: Figure[] = [
      { what: `batch of ${large}`, value: large / (many.wall / 1_000), unit: 'children/s', better: 'higher' },
      { what: 'CPU a child', value: a(many, large), unit: 'µs', better: 'lower' },
      { what: 'batch growth', value: a(many, large) / a(few, small), unit: '×', better: 'lower', target: 1.5, note: `CPU a child of ${large} against one of ${small}` }, // biome-ignore format: one figure a line
      { what: 'parent', value: many.events, unit: 'events', better: 'lower', note: `${many.bytes} bytes; ${few.events} of ${small} children` }, // biome-ignore format: one figure a line
      { what: 'heap peak', value: many.peak / 2 ** 20, unit: 'MiB', better: 'lower', note: `${(few.peak / 2 ** 20).toFixed(0)} with ${small}` }, // biome-ignore format: one figure a line
      { what: 'heap held', value: held / 2 ** 20, unit: 'MiB', better: 'lower', note: 'after it, collected' },
    ]
    return figures
  },
}
