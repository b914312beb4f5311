import { createServer } from '@triarch/server'
import { Child } from '../child/process.ts'
import { type Bench, type Figure, type Measure, percentile, timed } from '../measure.ts'
import { memory } from '../memory.ts'
import { drive, oneStep, start } from '../subject.ts'

const CONNECTIONS = 64
/** Submissions a second; a round trip (ms); what 1,000 streams cost (MB, % of a core). */
const targets = {
  submissions: { sqlite: 5_000, postgres: 5_000 },
  roundTrip: { sqlite: 3, postgres: 6 },
  memory: 60,
  cpu: 3,
}

export const http: Measure = {
  name: 'http',
  about: 'the same over HTTP, with the customers in another process; ceiling: in this process',
  async run(bench) {
    // First, for memory that this process had before hides what it takes.
    const idle = await streams(bench)
    return [...(await submissions(bench)), ...(await roundTrips(bench)), ...idle]
  },
}

async function asked(
  url: string,
  path: string,
  connections: number,
  count: number,
): Promise<{ ms: number; p50: number }> {
  const body = JSON.stringify({ workflow: 'one-step', input: { n: 1 } })
  await using customers = new Child('./customers.ts', [url, path, connections, count, body])
  return JSON.parse(await customers.line()) as { ms: number; p50: number }
}

/** Tasks that nobody runs: what is measured is that they are durable, and said to be. */
async function submissions(bench: Bench): Promise<Figure[]> {
  const count = bench.quick ? 100 : 20_000
  await using subject = await start(await bench.place('submitted'), { roles: [], notices: false })
  const { engine } = subject
  let next = 0
  const customer = async () => {
    while (next++ < count) await engine.submit(oneStep, { n: 1 })
  }
  const own = await timed(() => Promise.all(Array.from({ length: CONNECTIONS }, customer)))
  await using server = createServer(engine, { workflows: [oneStep] })
  const { url } = await server.listen({ port: 0, signals: [] })
  const { ms, p50 } = await asked(url, '/api/v1/tasks', CONNECTIONS, count)
  const speed = { unit: '/s', better: 'higher', ceiling: (count / own) * 1_000 } as const
  const target = targets.submissions[bench.store]
  return [
    { what: 'submissions', value: (count / ms) * 1_000, ...speed, target, note: `${CONNECTIONS} connections` },
    { what: 'submission p50', value: p50, unit: 'ms', better: 'lower' },
  ]
}

/** One at a time, on an idle system. */
async function roundTrips(bench: Bench): Promise<Figure[]> {
  const count = bench.quick ? 20 : 1_000
  await using subject = await start(await bench.place('engine'))
  await drive(subject.engine, oneStep, count, 1)
  const own: number[] = []
  for (let n = 0; n < count; n++)
    own.push(await timed(async () => (await subject.engine.submit(oneStep, { n: 1 })).result()))
  await using server = createServer(subject.engine, { workflows: [oneStep] })
  const { url } = await server.listen({ port: 0, signals: [] })
  const { p50 } = await asked(url, '/api/v1/tasks?wait=10s', 1, count)
  const target = targets.roundTrip[bench.store]
  return [
    { what: 'submit and wait p50', value: p50, unit: 'ms', better: 'lower', target, ceiling: percentile(own, 50) },
  ]
}

async function streams(bench: Bench): Promise<Figure[]> {
  const [count, span] = bench.quick ? [20, 100] : [1_000, 10_000]
  await using subject = await start(await bench.place('idle'))
  await using server = createServer(subject.engine)
  const { url } = await server.listen({ port: 0, signals: [] })
  // Garbage goes first, so that the span settles what the heap keeps of it.
  const resting = async () => {
    memory()
    const [began, before] = [performance.now(), process.cpuUsage()]
    await new Promise((resolve) => setTimeout(resolve, span))
    const { user, system } = process.cpuUsage(before)
    return { cpu: (user + system) / 10 / (performance.now() - began), rss: memory().rss }
  }
  const idle = await resting()
  await using listeners = new Child('./listeners.ts', [url, count])
  await listeners.line()
  const busy = await resting()
  const note = `${count} idle streams`
  return [
    {
      what: 'memory of streams',
      value: Math.max(0, busy.rss - idle.rss) / 1_000_000,
      unit: 'MB',
      better: 'lower',
      target: targets.memory,
      note,
    },
    {
      what: 'CPU of streams',
      value: Math.max(0, busy.cpu - idle.cpu),
      unit: '%',
      better: 'lower',
      target: targets.cpu,
      note,
    },
  ]
}
