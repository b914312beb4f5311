import { type HeapProfiler, Session } from 'node:inspector/promises'
import { GCProfiler, type GCProfilerResult } from 'node:v8'
import type { Measure } from '../measure.ts'
import { nameOf } from '../profile.ts'
import { drive, start, threeSteps } from '../subject.ts'

/** A sample for so many bytes. */
const INTERVAL = 8 * 1024
/** Functions that are named. */
const MOST = 3

export const garbage: Measure = {
  name: 'garbage',
  about:
    'what the engine’s thread allocates for three-step tasks, most of it for the garbage collector, and what that copies of it',
  async run({ quick, place, inFlight }) {
    const tasks = quick ? 100 : 10_000
    await using subject = await start(await place('engine'))
    // Compiled by then.
    await drive(subject.engine, threeSteps, tasks, inFlight)
    const session = new Session()
    session.connect()
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: INTERVAL,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    })
    await drive(subject.engine, threeSteps, tasks, inFlight)
    const { profile } = await session.post('HeapProfiler.stopSampling')
    session.disconnect()
    const collector = new GCProfiler()
    collector.start()
    await drive(subject.engine, threeSteps, tasks, inFlight)
    const copied = copiedIn(collector.stop())
    const own = new Map<string, number>()
    add(own, profile.head)
    const sorted = [...own].sort(([, a], [, b]) => b - a)
    const kilobytes = (bytes: number) => bytes / tasks / 1_000
    const total = sorted.reduce((sum, [, size]) => sum + size, 0)
    const most = sorted.slice(0, MOST).map(([name, size]) => `${name.split(' ')[0]} ${kilobytes(size).toFixed(1)}`)
    return [
      { what: 'a task', value: kilobytes(total), unit: 'KB', better: 'lower', target: 25, note: most.join(', ') },
      {
        what: 'functions',
        value: sorted.filter(([, size]) => size > total / 100).length,
        unit: '',
        better: 'lower',
        note: 'with more than a hundredth of it',
      },
      {
        what: 'copied',
        value: kilobytes(copied),
        unit: 'KB',
        better: 'lower',
        note: 'of what was young and lived on, by each collection',
      },
    ]
  },
}

/** Bytes that collections of the young generation found alive, and carried to another place. */
function copiedIn({ statistics }: GCProfilerResult): number {
  let copied = 0
  for (const { gcType, beforeGC, afterGC } of statistics) {
    if (gcType !== 'Scavenge') continue
    const used = ({ heapSpaceStatistics }: typeof afterGC, space: string) =>
      heapSpaceStatistics.find(({ spaceName }) => spaceName === space)?.spaceUsedSize ?? 0
    copied += used(afterGC, 'new_space') + Math.max(0, used(afterGC, 'old_space') - used(beforeGC, 'old_space'))
  }
  return copied
}

function add(own: Map<string, number>, { callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode): void {
  const name = nameOf(callFrame)
  own.set(name, (own.get(name) ?? 0) + selfSize)
  for (const child of children) add(own, child)
}
