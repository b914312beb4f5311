import { afterAll, describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../../packages/triarch/src/kernel/event.ts'
import { SharedStore } from '../../../packages/triarch/src/testing/shared.ts'
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
  waitCancelled: true,
  undoRegistered: true,
  stepCarried: true,
  adopted: true,
  childCarried: true,
  patched: true,
  progressed: true,
  returned: true,
  threw: true,
  continueAsNewRequested: true,
  submitted: true,
  planning: true,
  planned: true,
  started: true,
  stepCompleted: true,
  attemptFailed: true,
  verified: true,
  verifyRequested: true,
  fallbackRequested: true,
  heartbeat: true,
  stepSuspended: true,
  stepSignalled: true,
  messageIgnored: true,
  stepFailed: true,
  stepSkipped: true,
  plannedStepFailed: true,
  stepCancelled: true,
  stepRetried: true,
  timerFired: true,
  signalReceived: true,
  waitTimedOut: true,
  locksRequested: true,
  lockGranted: true,
  lockRefused: true,
  thawed: true,
  predecessorStopped: true,
  childStopped: true,
  batchAdvanced: true,
  batchStopping: true,
  undoRequested: true,
  undone: true,
  requestReceived: true,
  paused: true,
  resumed: true,
  closing: true,
  compensating: true,
  reset: true,
  continuedAsNew: true,
  stopped: true,
} satisfies Record<TaskEvent['type'], true>) as TaskEvent['type'][]

const store = new SharedStore()
afterAll(() => store.close())
const known = new Map(features.map((feature) => [feature.name, feature]))
const recordings = (of: readonly string[]) =>
  of.flatMap((edition) => recorded(edition).map((name) => [edition, name] as const))
const all = recordings(editions())

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
