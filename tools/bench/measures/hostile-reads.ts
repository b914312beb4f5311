import { Agent, request } from 'node:http'
import { Child } from '../child/process.ts'
import { type Bench, type Figure, type Measure, median } from '../measure.ts'

/** What a key that may only read must leave: of the speed of tasks (%), and until a probe is answered (ms). */
const TARGET = { speed: 80, probe: 100 }
const READERS = 8
const CUSTOMERS = 4
/** Between two probes (ms). */
const PROBES = 20

const reads: Readonly<Record<string, readonly string[]>> = {
  'a long history': [
    ...['/tasks/long/history?limit=1', '/tasks/long/steps', '/tasks/long/explain', '/tasks/long', '/tasks/long/export'],
    ...['/tasks/long/moment?at=1000', '/tasks/long/plan', '/tasks/long/history'],
  ],
  'lists and rows': [
    ...['/tasks?limit=1000', '/tasks/done-1', '/tasks/done-2/outcome', '/stats', '/agents', '/health?report=true'],
    ...['/tasks?filter=status:stopped&limit=1000', '/statistics?by=workflow'],
  ],
}

export const hostileReads: Measure = {
  name: 'hostile-reads',
  about:
    'one-step tasks over HTTP while a key to read asks at full speed, each in a process of its own; ceiling: without it',
  async run(bench) {
    await using server = new Child('./read-server.ts', [await bench.place('read'), bench.quick ? 100 : 2_000])
    const url = await server.line()
    await round(url, bench.quick ? 100 : 2_000)
    const figures: Figure[] = []
    for (const [what, paths] of Object.entries(reads)) figures.push(...(await beside(bench, url, what, paths)))
    return figures
  },
}

async function beside(bench: Bench, url: string, what: string, paths: readonly string[]): Promise<Figure[]> {
  const [rounds, span] = bench.quick ? [1, 200] : [5, 4_000]
  const taken: { alone: Round[]; read: Round[]; asked: number[]; refused: number } = {
    ...{ alone: [], read: [], asked: [], refused: 0 },
  }
  for (let n = 0; n < rounds; n++) {
    taken.alone.push(await round(url, span))
    await using readers = new Child('./readers.ts', [url, READERS, JSON.stringify(paths)])
    await readers.line()
    const asked = async () => JSON.parse(await readers.ask()) as { answered: number; refused: number }
    const before = await asked()
    taken.read.push(await round(url, span))
    const after = await asked()
    taken.asked.push(((after.answered - before.answered) / span) * 1_000)
    taken.refused += after.refused - before.refused
  }
  const speed = (all: readonly Round[]) => median(all.map((one) => one.speed))
  const worst = (all: readonly Round[]) => Math.max(...all.map((one) => one.probe))
  const shares = taken.read.map((one, n) => (one.speed / (taken.alone[n]?.speed ?? Number.NaN)) * 100)
  const note = `${READERS} readers, ${median(taken.asked).toFixed(0)} reads/s answered, ${taken.refused} refused`
  return [
    ...[
      {
        what: `${what}: tasks`,
        value: speed(taken.read),
        unit: '/s',
        better: 'higher' as const,
        ceiling: speed(taken.alone),
        note,
      },
    ],
    { what: 'of it', value: median(shares), unit: '%', better: 'higher', target: TARGET.speed },
    {
      what: 'worst probe',
      value: worst(taken.read),
      unit: 'ms',
      better: 'lower',
      target: TARGET.probe,
      ceiling: worst(taken.alone),
    },
  ]
}

interface Round {
  /** Tasks a second. */
  speed: number
  /** The longest that `/health/live` took to answer (ms). */
  probe: number
}

async function round(url: string, span: number): Promise<Round> {
  const agent = new Agent({ keepAlive: true })
  const until = performance.now() + span
  let [done, probe] = [0, 0]
  const customer = async () => {
    while (performance.now() < until) {
      await asked(agent, `${url}/api/v1/tasks?wait=10s`, JSON.stringify({ workflow: 'one-step', input: { n: 1 } }))
      done++
    }
  }
  const prober = async () => {
    while (performance.now() < until) {
      const began = performance.now()
      await asked(agent, `${url}/health/live`)
      probe = Math.max(probe, performance.now() - began)
      await new Promise((resolve) => setTimeout(resolve, PROBES))
    }
  }
  await Promise.all([...Array.from({ length: CUSTOMERS }, customer), prober()])
  agent.destroy()
  return { speed: (done / span) * 1_000, probe }
}

function asked(agent: Agent, url: string, body?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-key': 'shop', ...(body !== undefined && { 'content-type': 'application/json' }) }
    const sent = request(url, { agent, method: body === undefined ? 'GET' : 'POST', headers }, (response) => {
      if (response.statusCode !== 200 && response.statusCode !== 201)
        reject(new Error(`${url}: ${response.statusCode}`))
      response.resume().once('end', resolve)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
