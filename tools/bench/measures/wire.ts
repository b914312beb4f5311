import { createServer } from '@triarch/server'
import { Child } from '../child/process.ts'
import { type Bench, type Figure, type Measure, median, percentile, timed } from '../measure.ts'
import { drive, oneStep, start, threeSteps } from '../subject.ts'
import { spread } from './throughput.ts'

/** Steps a second, and a step of a task on an idle system (ms). */
const targets = { steps: 12_000, step: 3 }

export const wire: Measure = {
  name: 'wire',
  about: 'steps of an agent that is connected to the server which owns the task; ceiling: an agent in the process',
  async run(bench) {
    const own = await taken(bench, 'own', null)
    const socket = await taken(bench, 'socket', 'socket')
    const plain = await taken(bench, 'plain', 'plain')
    const figures = (name: string, { speed, rounds, p50 }: Taken, target: boolean): Figure[] => [
      {
        ...{ what: `steps, ${name}`, value: speed, unit: '/s', better: 'higher', ceiling: own.speed },
        ...{ ...(target && { target: targets.steps }), note: `rounds ${spread(rounds)} s` },
      },
      {
        ...{ what: `one step p50, ${name}`, value: p50, unit: 'ms', better: 'lower', ceiling: own.p50 },
        ...(target && { target: targets.step }),
      },
    ]
    return [...figures('WebSocket', socket, true), ...figures('requests', plain, false)]
  },
}

interface Taken {
  speed: number
  rounds: number[]
  p50: number
}

/** `transport`: null, where the agent is in this process. */
async function taken(bench: Bench, name: string, transport: 'socket' | 'plain' | null): Promise<Taken> {
  const [tasks, samples] = bench.quick ? [50, 20] : [8_000, 500]
  await using subject = await start(await bench.place(name), transport === null ? {} : { agents: [] })
  await using server = createServer(subject.engine)
  const { url } = await server.listen({ port: 0, signals: [] })
  await using agent = transport === null ? null : new Child('./remote.ts', [url, transport])
  await agent?.line()
  const inFlight = Math.min(bench.inFlight, tasks)
  await drive(subject.engine, threeSteps, tasks / 2, inFlight)
  const rounds: number[] = []
  for (let round = 0; round < 3; round++) rounds.push(await drive(subject.engine, threeSteps, tasks, inFlight))
  const single: number[] = []
  for (let sample = -samples / 2; sample < samples; sample++) {
    const ms = await timed(async () => (await subject.engine.submit(oneStep, { n: 1 })).result())
    if (sample >= 0) single.push(ms)
  }
  return { speed: (tasks / median(rounds)) * 3_000, rounds, p50: percentile(single, 50) }
}
