import { expect, it } from 'vitest'
import type { StepRequest, Transition } from '../../src/store/port.ts'
import { packed, unpacked } from '../../src/store/sqlite/parcel.ts'

const bare: Transition = {
  ...{ key: 7, id: 'order', node: 'node', epoch: 3, seq: 9, at: 1_000, lastAt: 990, events: '[{"type":"started"}]' },
  ...{ create: null, snapshot: null, release: null, rebase: false },
  ...{ consumed: [], work: [], withdraw: [], forget: [], children: [], posts: [] },
}
const task = {
  ...{
    id: 'child',
    workflow: 'w',
    version: '1',
    priority: 0,
    tags: { of: 'order' },
    at: 1,
    status: 'pending' as const,
  },
  ...{ startAt: null, deadline: null, parent: 'order', events: '[]' },
}
const snapshot = {
  ...{ status: 'running' as const, result: 'pending' as const, failures: 0, deadline: null },
  ...{ progress: null, output: '"out"', error: null, pause: null },
}
const request = {
  ...{ task: 'order', workflow: 'w', version: '1', tags: {}, step: 1, operation: 'run' as const, attempt: 1 },
  ...{ name: 'charge', action: 'shop.charge', key: 'order:1', input: { of: ['a "quoted" text\n'] } },
}
const work = {
  ...{ step: 1, operation: 'run' as const, attempt: 1, agent: 'shop', action: 'shop.charge', priority: 0 },
  ...{ completeWithin: 1, heartbeatWithin: null, expiresAt: null, request: request as unknown as StepRequest },
}
const parts: Partial<Transition>[] = [
  { key: null, create: task, events: null },
  { snapshot },
  { release: { wakeAt: 5, ready: false, orphaned: true } },
  { rebase: true },
  { consumed: [1, 2] },
  { work: [work] },
  { withdraw: [4] },
  { forget: [5] },
  { children: [task] },
  { posts: [{ task: 'order', message: { type: 'event', name: 'paid', payload: { n: 1 } }, control: false }] },
  { gates: { locks: [], unlocks: [0] } },
]

it.each([{}, ...parts, Object.assign({}, ...parts) as Partial<Transition>])(
  'a transition is on the other side of a thread what it was on this: %j',
  (part) => {
    const transition = { ...bare, ...part }
    const [arrived, other] = unpacked(structuredClone(packed([transition, bare])))
    expect(arrived).toEqual(transition)
    expect(other).toEqual(bare)
    // What says nothing is not sent.
    expect(packed([bare])[0]?.at(-1)).toBeNull()
  },
)
