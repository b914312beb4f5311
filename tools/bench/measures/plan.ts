import { type Action, agent, type Planned, type Workflow, workflow } from 'triarch'
import { type Figure, type Measure, median, timed } from '../measure.ts'
import { memory } from '../memory.ts'
import { type Count, start } from '../subject.ts'

/** Steps side by side in each layer; each refers to two of the layer before. */
const WIDTH = 100

const own = agent('planned', { concurrency: 100_000 })
const add = own.action('add', { run: async ({ n }: Count) => ({ n: n + 1 }) })
const undoable = own.action('undoable', { run: async ({ n }: Count) => ({ n: n + 1 }), undo: () => undefined })

export const plan: Measure = {
  name: 'plan',
  about: 'one plan of layers of 100 steps that refer to each other, submit to result; small against large',
  async run({ quick, place }) {
    const [small, large, rounds] = quick ? [200, 400, 1] : [2_500, 10_000, 7]
    const flows = [layered('layered', add), layered('undoable', undoable), wide, chain]
    const gated = layered('gated', add, gate)
    await using subject = await start(await place('engine'), { agents: [own], workflows: [...flows, gated] })
    const figures: Figure[] = []
    for (const flow of flows) {
      const once = async (n: number) => {
        const task = await subject.engine.submit(flow, { n })
        await task.result()
      }
      for (let warmup = 0; warmup < (quick ? 1 : 3); warmup++) await once(small)
      const each = async (n: number, times: number) => {
        const taken: number[] = []
        for (let round = 0; round < times; round++) taken.push(await timed(() => once(n)))
        return (median(taken) / n) * 1_000
      }
      const few = await each(small, rounds)
      const many = await each(large, Math.ceil(rounds / 2))
      figures.push(
        { what: `${flow.name} ${large}`, value: many, unit: 'µs/step', better: 'lower' as const },
        { what: `${flow.name} growth`, value: many / few, unit: '×', better: 'lower' as const, target: 1.5, note: `a step of ${large} against one of ${small}` }, // biome-ignore format: one figure a line
      )
    }
    const before = memory().heap
    const waiting = await subject.engine.submit(gated, { n: large })
    const held = memory().heap - before
    await waiting.cancel()
    await waiting.result().catch(() => undefined)
    figures.push({ what: 'heap of a plan', value: held / large / 1_024, unit: 'KiB/step', better: 'lower' as const })
    return figures
  },
}

/** Never opens: what is behind it stays planned. */
const gate = own.action('gate', { run: (_: Count, step) => step.suspend() })

function layered(name: string, action: Action<Count, Count>, first = action): Workflow<Count, number> {
  return workflow(name, {
    plan({ n }: Count, plan) {
      let above: Planned<Count>[] = []
      for (let planned = 0; planned < n; planned += WIDTH) {
        const layer = Array.from({ length: Math.min(WIDTH, n - planned) }, (_, index) => {
          const [one, two] = [above[index], above[(index + 1) % WIDTH]]
          return plan.step(
            planned === 0 ? first : action,
            { n: one ? one.output.n : index },
            two ? { after: [two] } : {},
          )
        })
        above = layer
      }
      return above[0]?.output.n ?? 0
    },
  })
}

const wide: Workflow<Count, number> = workflow('wide-plan', {
  plan({ n }: Count, plan) {
    for (let planned = 0; planned < n; planned++) plan.step(add, { n: planned })
    return n
  },
})

const chain: Workflow<Count, number> = workflow('chain', {
  plan({ n }: Count, plan) {
    let last = plan.step(undoable, { n: 0 })
    for (let planned = 1; planned < n; planned++) last = plan.step(undoable, { n: last.output.n })
    return last.output.n
  },
})
