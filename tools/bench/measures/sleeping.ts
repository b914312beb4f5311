import { Child } from '../child/process.ts'
import { sleepers, woken } from '../child/sleepers.ts'
import { type Figure, Gate, type Measure, median, timed } from '../measure.ts'
import { memory } from '../memory.ts'
import { type Subject, start } from '../subject.ts'

const DAY = 86_400_000
/** Sleeps shorter than 5 s stay in memory. */
const NAP = 6_000

export const sleeping: Measure = {
  name: 'sleeping',
  about: 'what sleeping tasks cost a node: memory, idle CPU, its looks for work, and waking them',
  async run({ quick, place }) {
    const [tasks, nappers, span, rounds] = quick ? [200, 0, 50, 1] : [100_000, 5_000, 2_000, 3]
    const [empty, full] = [await place('empty'), await place('full')]
    const { held, look, emptyLook } = await fill(empty, full, tasks)
    const idle: { empty: Idle[]; full: Idle[] } = { empty: [], full: [] }
    for (let round = 0; round < rounds; round++) {
      idle.empty.push(await idling(empty, span))
      idle.full.push(await idling(full, span))
    }
    const grown = (pick: (idle: Idle) => number) => median(idle.full.map(pick)) - median(idle.empty.map(pick))
    const cpu = median(idle.full.map((idle) => idle.cpu)) * 100
    const emptyCpu = median(idle.empty.map((idle) => idle.cpu)) * 100
    const mib = { unit: 'MiB', better: 'lower' as const }
    const fresh = `a fresh node with ${tasks} sleepers, against one with none`
    return [
      { what: 'RSS', value: grown(({ rss }) => rss) / 2 ** 20, ...mib, note: fresh },
      { what: 'heap', value: grown(({ heap }) => heap) / 2 ** 20, ...mib, note: fresh },
      { what: 'heap held', value: held / 2 ** 20, ...mib, note: `by the node that put ${tasks / 2} more to sleep` },
      { what: 'idle CPU', value: cpu, unit: '%', better: 'lower', note: `${emptyCpu.toFixed(2)} % with no sleepers` },
      {
        what: 'a look',
        value: look,
        unit: 'µs',
        better: 'lower',
        note: `claim + next wake-up; ${emptyLook.toFixed(1)} µs with none`,
      },
      ...(quick ? [] : [await waking(full, nappers)]),
    ]
  },
}

interface Idle {
  rss: number
  heap: number
  cpu: number
}

/** Puts tasks to sleep in one of two stores; what the node then still holds, and what a look into each costs. */
async function fill(empty: string, full: string, tasks: number) {
  await using none = await start(empty, { workflows: [sleepers] })
  await using some = await start(full, { workflows: [sleepers] })
  await submit(some, tasks / 2, Date.now() + DAY)
  const before = memory().heap
  await submit(some, tasks / 2, Date.now() + DAY)
  const held = memory().heap - before
  await looking(none)
  return { held, emptyLook: await looking(none), look: await looking(some) }
}

async function submit({ engine, store }: Subject, tasks: number, until: number): Promise<void> {
  let next = 0
  const customer = async () => {
    while (next++ < tasks) await engine.submit(sleepers, { until })
  }
  await Promise.all(Array.from({ length: Math.min(1_000, tasks) }, customer))
  await store.nextWake()
}

/** What a poll of an idle scheduler asks of the store (µs). */
async function looking({ store }: Subject): Promise<number> {
  const runnable = [{ workflow: sleepers.name, version: sleepers.version }]
  const looks: number[] = []
  for (let look = 0; look < 1_000; look++) {
    looks.push(
      await timed(async () => {
        await store.claim({ node: 'nobody', runnable, limit: 500 })
        await store.nextWake()
      }),
    )
  }
  return median(looks) * 1_000
}

async function idling(path: string, span: number): Promise<Idle> {
  await using child = new Child('./idle.ts', [path, span])
  return JSON.parse(await child.line()) as Idle
}

/** Time from the instant at which many are due until the last has run its first step. */
async function waking(path: string, nappers: number): Promise<Figure> {
  const awake = new Gate(nappers)
  woken.pass = () => awake.pass()
  await using subject = await start(path, { workflows: [sleepers] })
  const until = Date.now() + NAP + nappers / 2
  await submit(subject, nappers, until)
  await awake.open
  const value = Date.now() - until
  return { what: 'waking', value, unit: 'ms', better: 'lower', note: `from the due instant to the last of ${nappers}` }
}
