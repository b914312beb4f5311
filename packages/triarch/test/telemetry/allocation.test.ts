import { Session } from 'node:inspector/promises'
import { describe, expect, it } from 'vitest'
import { agent, type TriarchOptions, telemetryNames, workflow } from '../../src/index.ts'
import { testEngine } from '../../src/testing/index.ts'

const shop = agent('shop')
const act = shop.action('act', { run: (n: number) => n })
const three = workflow('three', {
  async run(n: number, task) {
    for (let step = 0; step < 3; step++) await task.run(act, n)
    return n
  },
})
const TASKS = 100
/** Methods that make what is told, wherever they are. */
const tellers = /^#(?:tell|about|origin)/

interface Allocating {
  callFrame: { functionName: string; url: string }
  selfSize: number
  children: Allocating[]
}

/** Bytes that telemetry allocated for each task, by function, and all bytes: a sample for each 512, collected or not. */
async function allocated(options: Pick<TriarchOptions, 'telemetry' | 'logger'>) {
  await using engine = await testEngine({ workflows: [three], agents: [shop], ...options })
  const run = async () => {
    for (let n = 0; n < TASKS; n++) await engine.submit(three, n)
    await engine.settle()
  }
  await run() // what is made once is made
  const session = new Session()
  session.connect()
  const collected = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
  await session.post('HeapProfiler.startSampling', { samplingInterval: 512, ...collected })
  await run()
  const { profile } = await session.post('HeapProfiler.stopSampling')
  session.disconnect()
  const telemetry: Record<string, number> = {}
  let all = 0
  const add = ({ callFrame: { functionName, url }, selfSize, children }: Allocating): void => {
    const place = url.split('/triarch/src/')[1] ?? ''
    all += selfSize / TASKS
    if (selfSize > 0 && (place.startsWith('telemetry/') || (place !== '' && tellers.test(functionName))))
      telemetry[functionName] = (telemetry[functionName] ?? 0) + selfSize / TASKS
    for (const child of children) add(child)
  }
  add(profile.head as Allocating)
  return { telemetry, sum: Object.values(telemetry).reduce((sum, bytes) => sum + bytes, 0), all }
}

const ear = Object.fromEntries(telemetryNames.map((name) => [name, () => undefined]))
const logger = { debug() {}, info() {}, warn() {}, error() {} }

describe('telemetry', () => {
  it('allocates nothing for a task where nobody listens, and for a log of warnings a fraction of what all listeners cost', async () => {
    const heard = await allocated({ telemetry: ear })
    // The measure sees what there is.
    expect(heard.telemetry).toMatchObject({ '#about': expect.any(Number), make: expect.any(Number) })
    expect(heard.sum).toBeGreaterThan(1_000)
    const unheard = await allocated({})
    // The compiler's own now and then; an iterator for each record would be 300.
    expect(unheard.sum).toBeLessThan(100)
    expect(unheard.all).toBeGreaterThan(10_000)
    const quiet = await allocated({ logger })
    expect(quiet.sum).toBeLessThan(heard.sum / 3)
  })
})
