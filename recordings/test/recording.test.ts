import { afterAll, describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../packages/triarch/src/kernel/event.ts'
import { SharedStore } from '../../packages/triarch/src/testing/shared.ts'
import { features } from '../features/index.ts'
import { endOf, mismatches, shown, takenOver } from '../judge.ts'
import { record } from '../record.ts'
import { editions, newest, read, recorded, textOf } from '../recording.ts'
import { typesIn } from '../seed.ts'

/** Places at which a recording is cut off here; `npm run record -- check` takes all. */
const MOST = 3

/** The compiler holds this table to the union: an event that is not in it is not built. */
const types = Object.keys({
  stepRequested: true,
  timerStarted: true,
  waitStarted: true,
  childStarted: true,
  lockRequested: true,
  lockReleased: true,
  withdrawn: true,
  undoRegistered: true,
  patched: true,
  progressed: true,
  returned: true,
  threw: true,
  continuedAs: true,
  submitted: true,
  planning: true,
  planned: true,
  started: true,
  stepCompleted: true,
  attemptFailed: true,
  verified: true,
  verifyRequested: true,
  heartbeat: true,
  stepSuspended: true,
  stepSignalled: true,
  unheeded: true,
  stepFailed: true,
  stepSkipped: true,
  stepParked: true,
  stepCancelled: true,
  stepRetried: true,
  timerFired: true,
  eventReceived: true,
  waitTimedOut: true,
  keysRequested: true,
  locked: true,
  lockRefused: true,
  thawed: true,
  antecedentStopped: true,
  childStopped: true,
  batchMoved: true,
  batchStopping: true,
  undoRequested: true,
  undone: true,
  paused: true,
  resumed: true,
  unwinding: true,
  compensating: true,
  rewound: true,
  continued: true,
  stopped: true,
} satisfies Record<TaskEvent['type'], true>) as TaskEvent['type'][]

const store = new SharedStore()
afterAll(() => store.close())
const known = new Map(features.map((feature) => [feature.name, feature]))
const all = editions().flatMap((edition) => recorded(edition).map((name) => [edition, name] as const))

describe('a recorded history', () => {
  it('is there of every feature, and is what this version records', async () => {
    for (const feature of features) {
      const edition = newest(feature.name)
      expect(edition, `npm run record writes ${feature.name}`).toBeDefined()
      if (edition) expect(textOf(await record(feature, store))).toBe(textOf(read(edition, feature.name)))
    }
  })

  it('is there of every event', () => {
    const found = new Set(all.flatMap(([edition, name]) => [...typesIn(read(edition, name))]))
    expect(types.filter((type) => !found.has(type))).toEqual([])
  })

  it.each(all)('%s/%s: is shown as it was, and its code still asks for the same', async (edition, name) => {
    const [feature, recording] = [known.get(name), read(edition, name)]
    if (!feature) throw new Error(`the code of ${name} is gone, and its recording stays for ever`)
    expect(await shown(store, feature, recording)).toEqual(recording.tasks)
    expect(await mismatches(feature, recording)).toEqual([])
  })

  it.each(all)('%s/%s: comes to the same end wherever another process takes over', async (edition, name) => {
    const [feature, recording] = [known.get(name), read(edition, name)]
    const { length } = recording.commits
    for (let place = 0; feature && place < Math.min(MOST, length); place++) {
      const count = length - Math.floor((place * length) / Math.min(MOST, length))
      expect([count, await takenOver(store, feature, recording, count)]).toEqual([count, recording.tasks.map(endOf)])
    }
  })
})
