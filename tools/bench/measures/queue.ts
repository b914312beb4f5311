import { Child } from '../child/process.ts'
import { type Bench, type Figure, type Measure, median, percentile, timed } from '../measure.ts'
import { cpuOf } from '../processes.ts'
import { drive, oneStep, type Subject, start, threeSteps } from '../subject.ts'
import { costing, figures, spread } from './throughput.ts'

export const queue: Measure = {
  name: 'queue',
  about: 'the same with actions that run in another process: each step goes through the work queue and the inbox',
  run: (bench) => elsewhere(bench, { isDirect: false, steps: 15_000, step: 4.5 }),
}

export const direct: Measure = {
  name: 'direct',
  about: 'the same, but the two processes are connected: no step takes a row, unless there is no room for it',
  run: (bench) => elsewhere(bench, { isDirect: true, steps: 20_000, step: 2 }),
}

/** Targets: steps a second, and the round trip of a task of one step (ms). */
async function elsewhere(bench: Bench, targets: { isDirect: boolean; steps: number; step: number }): Promise<Figure[]> {
  const { isDirect } = targets
  const [tasks, samples] = bench.quick ? [50, 20] : [8_000, 500]
  const place = await bench.place('engine')
  await using subject = await start(place, { agents: [], roles: ['scheduler', 'supervisor'], direct: isDirect })
  await using agent = new Child('./agent.ts', [place, isDirect ? 'direct' : ''])
  await agent.line()
  const { engine, commits } = subject
  // Until a step goes out without a row.
  for (let before = -1; isDirect && before !== commits.requests; ) {
    before = commits.requests
    await (await engine.submit(oneStep, { n: 1 })).result()
  }
  const inFlight = Math.min(bench.inFlight, tasks)
  await drive(engine, threeSteps, tasks / 2, inFlight)
  const queued = commits.requests
  const times: number[] = []
  const spent: Awaited<ReturnType<Awaited<ReturnType<typeof costing>>>>[] = []
  const agents: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = cpuOf(agent.pid)
    const costs = await costing(bench, tasks)
    times.push(await drive(engine, threeSteps, tasks, inFlight))
    spent.push(await costs())
    agents.push((((cpuOf(agent.pid) ?? Number.NaN) - (before ?? Number.NaN)) * 1_000) / tasks)
  }
  const speed = (tasks / median(times)) * 3_000
  const cost = median(agents)
  const share = Math.round(((commits.requests - queued) / (9 * tasks)) * 100)
  const note = `rounds ${spread(times)} s; ${share} % by the queue`
  const unit = { unit: 'µs/task', better: 'lower' } as const
  return [
    { what: 'steps', value: speed, unit: '/s', better: 'higher', target: targets.steps, note },
    ...figures(spent),
    ...(Number.isNaN(cost) ? [] : [{ what: 'CPU agent', value: cost, ...unit }]),
    ...(await roundtrips(subject, samples, targets.step)),
  ]
}

/** One task at a time, on an idle system. */
async function roundtrips({ engine }: Subject, samples: number, target: number): Promise<Figure[]> {
  const taken: number[] = []
  for (let sample = -samples / 2; sample < samples; sample++) {
    const ms = await timed(async () => {
      const task = await engine.submit(oneStep, { n: 1 })
      await task.result()
    })
    if (sample >= 0) taken.push(ms)
  }
  return [
    { what: 'round trip p50', value: percentile(taken, 50), unit: 'ms', better: 'lower', target },
    { what: 'round trip p99', value: percentile(taken, 99), unit: 'ms', better: 'lower' },
  ]
}
