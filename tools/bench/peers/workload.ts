import { setTimeout as later } from 'node:timers/promises'
import { median, percentile, timed } from '../measure.ts'
import { IN_FLIGHT, type Running } from './system.ts'

export type Figures = Readonly<Record<string, number>>

export interface Workload {
  name: string
  about: string
  /** With the worker in another process than the client. */
  across?: true
  finds: readonly { what: string; unit: string; better: 'higher' | 'lower' }[]
  take(running: Running, times: Times): Promise<Figures>
}

/** Steps of one workflow at once. */
const WIDTH = 1_000

/** Milliseconds: as long for a slow system as for a fast one. */
export interface Times {
  warmup: number
  window: number
}

export const workloads: readonly Workload[] = [
  {
    name: 'jobs',
    about: `one unit of durable work, ${IN_FLIGHT} in flight, submitted and run by one process`,
    finds: [{ what: 'jobs', unit: '/s', better: 'higher' }],
    take: async (running, times) => ({ jobs: await crowd(() => running.job(), times) }),
  },
  {
    name: 'workflows',
    about: `three durable steps, one after the other, ${IN_FLIGHT} in flight`,
    finds: [{ what: 'workflows', unit: '/s', better: 'higher' }],
    take: async (running, times) => ({ workflows: await crowd(() => running.workflow(), times) }),
  },
  {
    name: 'trip',
    about: 'one job at a time, from submission to its end',
    finds: [
      { what: 'p50', unit: 'ms', better: 'lower' },
      { what: 'p99', unit: 'ms', better: 'lower' },
    ],
    take: trips,
  },
  {
    name: 'across',
    about: 'one job at a time, submitted and awaited by a process that another one runs it for',
    across: true,
    finds: [
      { what: 'p50', unit: 'ms', better: 'lower' },
      { what: 'p99', unit: 'ms', better: 'lower' },
    ],
    take: trips,
  },
  {
    name: 'wide',
    about: `${WIDTH} durable steps of one workflow at once, from submission to its end`,
    finds: [{ what: `${WIDTH} wide`, unit: 'ms', better: 'lower' }],
    async take(running, times) {
      const spans = await alone(times, () => running.wide(WIDTH))
      return { [`${WIDTH} wide`]: median(spans) }
    },
  },
]

async function trips(running: Pick<Running, 'job'>, times: Times): Promise<Figures> {
  const spans = await alone(times, () => running.job())
  return { p50: percentile(spans, 50), p99: percentile(spans, 99) }
}

/** One after the other: how long each took that ended within the window, or the last if none did. */
async function alone(times: Times, one: () => Promise<unknown>): Promise<number[]> {
  const spans: number[] = []
  let last = Number.NaN
  await lasting(times, 1, async (counts) => {
    last = await timed(one)
    if (counts()) spans.push(last)
  })
  return spans.length > 0 ? spans : [last]
}

/** A second; what ends within the window counts. */
async function crowd(one: () => Promise<unknown>, times: Times): Promise<number> {
  let ended = 0
  await lasting(times, IN_FLIGHT, async (counts) => {
    await one()
    if (counts()) ended++
  })
  return (ended / times.window) * 1_000
}

/** Repeats it in so many lines until the window closes. */
async function lasting(
  { warmup, window }: Times,
  lines: number,
  one: (counts: () => boolean) => Promise<void>,
): Promise<void> {
  const opens = performance.now() + warmup
  const closes = opens + window
  const counts = () => performance.now() >= opens && performance.now() < closes
  const line = async () => {
    while (performance.now() < closes) await one(counts)
  }
  await Promise.race([
    Promise.all(Array.from({ length: lines }, line)),
    later(warmup + window + PATIENCE).then(() => Promise.reject(new Error('something never ended'))),
  ])
}

/** For what was under way when the window closed (ms). */
const PATIENCE = 30_000
