import { Child } from '../child/process.ts'
import { type Bench, type Figure, type Measure, median, percentile, timed } from '../measure.ts'
import { cpuOf } from '../processes.ts'
import { drive, oneStep, start, threeSteps } from '../subject.ts'
import { costing, figures, spread } from './throughput.ts'

export const queue: Measure = {
  name: 'queue',
  about: 'the same with actions that run in another process: each step goes through the work queue and the inbox',
  async run(bench) {
    const [tasks, samples] = bench.quick ? [50, 20] : [8_000, 500]
    const place = await bench.place('engine')
    await using subject = await start(place, { agents: [], roles: ['scheduler', 'supervisor'] })
    await using agent = new Child('./agent.ts', [place])
    await agent.line()
    const inFlight = Math.min(bench.inFlight, tasks)
    await drive(subject.engine, threeSteps, tasks / 2, inFlight)
    const times: number[] = []
    const spent: Awaited<ReturnType<Awaited<ReturnType<typeof costing>>>>[] = []
    const agents: number[] = []
    for (let round = 0; round < 3; round++) {
      const before = cpuOf(agent.pid)
      const costs = await costing(bench, tasks)
      times.push(await drive(subject.engine, threeSteps, tasks, inFlight))
      spent.push(await costs())
      agents.push((((cpuOf(agent.pid) ?? Number.NaN) - (before ?? Number.NaN)) * 1_000) / tasks)
    }
    const speed = (tasks / median(times)) * 3_000
    const cost = median(agents)
    const unit = { unit: 'µs/task', better: 'lower' } as const
    return [
      { what: 'steps', value: speed, unit: '/s', better: 'higher', target: 12_000, note: `rounds ${spread(times)} s` },
      ...figures(spent),
      ...(Number.isNaN(cost) ? [] : [{ what: 'CPU agent', value: cost, ...unit }]),
      ...(await roundtrips(bench, subject, samples)),
    ]
  },
}

/** One task at a time, on an idle system. */
async function roundtrips(_: Bench, { engine }: Awaited<ReturnType<typeof start>>, samples: number): Promise<Figure[]> {
  const taken: number[] = []
  for (let sample = -samples / 2; sample < samples; sample++) {
    const ms = await timed(async () => {
      const task = await engine.submit(oneStep, { n: 1 })
      await task.result()
    })
    if (sample >= 0) taken.push(ms)
  }
  return [
    { what: 'round trip p50', value: percentile(taken, 50), unit: 'ms', better: 'lower', target: 6 },
    { what: 'round trip p99', value: percentile(taken, 99), unit: 'ms', better: 'lower' },
  ]
}
