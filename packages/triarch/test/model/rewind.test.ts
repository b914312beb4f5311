import { describe, expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { newPlanState } from '../../src/kernel/plan/plan.ts'
import { effective, rebuild, rebuilding } from '../../src/kernel/rebuild.ts'
import { newState, type TaskState } from '../../src/kernel/state.ts'
import { Fold } from './fold.ts'
import * as h from './history.ts'
import { tableOf } from './table.ts'

/** What is left of a history, and what the last rewind of it is told of attempts and ids. */
function left(events: readonly TaskEvent[]): { kept: string; attempts: unknown; endId: unknown } {
  const kept = effective(events.map((event, index) => ({ at: index, event }))).map(({ event }) => event)
  const rewound = kept.findLast(({ type }) => type === 'reset')
  const { attempts, endId } = rewound as Extract<TaskEvent, { type: 'reset' }>
  return {
    kept: kept.map((event) => [event.type, 'id' in event ? event.id : ''].join(' ').trim()).join(', '),
    attempts,
    endId,
  }
}

const rewound = (step: number | null): TaskEvent => ({ type: 'reset', step })
const stop = h.stopped('error')
const three: TaskEvent[] = [h.requested(1), h.completed(1), h.requested(2), h.requested(3), h.completed(2)]
const lost: TaskEvent[] = [
  { type: 'threw', error: h.error, rescue: 'fail' },
  { type: 'stepCancelled', id: 3 },
  { type: 'returned', output: 1 },
  { type: 'continueAsNewRequested', input: 1 },
  h.closing(false),
  stop,
]
const outside: TaskEvent[] = [
  { type: 'signalReceived', name: 'e', payload: 1 },
  { type: 'stepRetried', id: 2, at: 1 },
  { type: 'resumed' },
  { type: 'thawed' },
  { type: 'predecessorStopped', task: 'x', result: 'success' },
  { type: 'locksRequested' },
]
const planned = h.plan([
  { action: 'a.b' },
  { action: 'a.b', after: [1] },
  { action: 'a.b' },
  { action: 'a.b', finalizes: 3 },
])
const ran: TaskEvent[] = [1, 2, 3, 4].flatMap((id) => [h.requested(id), h.completed(id)])

describe('of a history that is rewound', () => {
  it.each<[what: string, history: TaskEvent[], kept: string]>([
    [
      'nothing but the stop is void where it goes back to no step',
      [h.started, ...three, ...lost, rewound(null)],
      'started, stepRequested 1, stepCompleted 1, stepRequested 2, stepRequested 3, stepCompleted 2, reset',
    ],
    [
      'nothing but the stop is void where the step has no outcome',
      [h.started, ...three, ...lost, rewound(3)],
      'started, stepRequested 1, stepCompleted 1, stepRequested 2, stepRequested 3, stepCompleted 2, reset',
    ],
    [
      'the outcome of the step is void',
      [h.started, ...three, stop, rewound(2)],
      'started, stepRequested 1, stepCompleted 1, stepRequested 2, stepRequested 3, reset',
    ],
    [
      'what was asked for after the outcome is void, and what became of it',
      [h.started, ...three, h.completed(3), stop, rewound(1)],
      'started, stepRequested 1, reset',
    ],
    [
      'outcomes of what was asked for before stand',
      [
        h.started,
        h.requested(1),
        h.requested(2),
        h.completed(1),
        h.requested(3),
        h.completed(2),
        h.completed(3),
        stop,
        rewound(1),
      ],
      'started, stepRequested 1, stepRequested 2, stepCompleted 2, reset',
    ],
    [
      'failures that came later are void',
      [
        h.started,
        h.requested(1),
        h.requested(2),
        h.completed(1),
        { type: 'stepFailed', id: 2, error: h.error },
        stop,
        rewound(1),
      ],
      'started, stepRequested 1, stepRequested 2, reset',
    ],
    [
      'attempts that came later are void',
      [h.started, h.requested(1), h.requested(2), h.completed(1), h.failedAttempt(2), stop, rewound(1)],
      'started, stepRequested 1, stepRequested 2, reset',
    ],
    [
      'what came from outside stands',
      [h.started, ...three, ...outside, stop, rewound(1)],
      'started, stepRequested 1, signalReceived, stepRetried 2, resumed, thawed, predecessorStopped, locksRequested, reset',
    ],
    [
      'earlier rewinds stand',
      [h.started, h.requested(1), h.completed(1), stop, rewound(1), h.completed(1), stop, rewound(1)],
      'started, stepRequested 1, reset, reset',
    ],
    [
      'children of batches that were asked for before stay known',
      [
        h.started,
        h.requested(1),
        h.requested(2),
        h.completed(1),
        { type: 'batchAdvanced', id: 2, started: 1 },
        { type: 'batchStopping', id: 2 },
        h.requested(3),
        { type: 'batchAdvanced', id: 3, started: 1 },
        stop,
        rewound(1),
      ],
      'started, stepRequested 1, stepRequested 2, batchAdvanced 2, batchStopping 2, reset',
    ],
    [
      'every kind of outcome counts',
      [
        h.started,
        h.requested(1),
        ...[2, 3].map((id): TaskEvent => ({ type: 'timerStarted', id, until: 1 })),
        h.called(4),
        { type: 'lockRequested', id: 5, name: 'l', until: null },
        { type: 'waitStarted', id: 6, name: 'e', until: 1 },
        { type: 'stepSkipped', id: 1, by: 'rescue' },
        { type: 'timerFired', id: 2 },
        { type: 'waitTimedOut', id: 6 },
        { type: 'childStopped', id: 4, result: 'success' },
        { type: 'lockGranted', id: 5 },
        { type: 'lockRefused', id: 5, error: h.error },
        stop,
        rewound(1),
      ],
      'started, stepRequested 1, timerStarted 2, timerStarted 3, childStarted 4, lockRequested 5, waitStarted 6, timerFired 2, waitTimedOut 6, childStopped 4, lockGranted 5, lockRefused 5, reset',
    ],
    [
      'a retry goes back to a timer',
      [
        h.started,
        { type: 'timerStarted', id: 1, until: 1 },
        { type: 'timerFired', id: 1 },
        h.requested(2),
        stop,
        rewound(1),
      ],
      'started, timerStarted 1, reset',
    ],
    [
      'all of a plan that depended on the step is void, and that it was finalized',
      [...planned, ...ran, stop, rewound(1)],
      'planning, planned, started, stepRequested 1, stepRequested 3, stepCompleted 3, reset',
    ],
    [
      'what the plan did elsewhere stands',
      [...planned, ...ran, stop, rewound(3)],
      'planning, planned, started, stepRequested 1, stepCompleted 1, stepRequested 2, stepCompleted 2, stepRequested 3, reset',
    ],
    [
      'all stands of a plan whose step has no outcome',
      [...planned, h.requested(1), h.requested(3), h.completed(3), stop, rewound(1)],
      'planning, planned, started, stepRequested 1, stepRequested 3, stepCompleted 3, reset',
    ],
    [
      'all stands of a plan whose step was skipped along with another, and that it was finalized',
      [
        ...planned,
        h.requested(1),
        { type: 'stepSkipped', id: 1, cascade: [2], by: 'rescue' },
        ...[3, 4].flatMap((id) => [h.requested(id), h.completed(id)]),
        stop,
        rewound(2),
      ],
      'planning, planned, started, stepRequested 1, stepSkipped 1, stepRequested 3, stepCompleted 3, stepRequested 4, stepCompleted 4, reset',
    ],
    [
      'a plan is not cut by what another step became',
      [
        ...planned,
        h.requested(1),
        h.completed(1),
        h.requested(2),
        { type: 'stepFailed', id: 2, error: h.error },
        stop,
        rewound(3),
      ],
      'planning, planned, started, stepRequested 1, stepCompleted 1, stepRequested 2, stepFailed 2, reset',
    ],
  ])('%s', (_, history, kept) => {
    expect(left(history).kept).toBe(kept)
  })

  it('no reply of an attempt before it matches one after it, whatever began that', () => {
    const begun: TaskEvent[] = [
      h.requested(1),
      { type: 'stepRetried', id: 1, at: 1 },
      { type: 'verifyRequested', id: 1, at: 1 },
      { type: 'undoRequested', id: 1, at: 1 },
      { type: 'stepSuspended', id: 1, ...h.trace },
      { type: 'stepSignalled', id: 1, name: 'e', payload: 1 },
      h.failedAttempt(1, { next: { operation: 'run', at: 1 } }),
      { type: 'verified', id: 1, answer: 'unknown', next: { operation: 'run', at: 1 } },
      h.failedAttempt(1),
      { type: 'verified', id: 1, answer: 'unknown' },
      { type: 'heartbeat', id: 1, attempt: 1 },
      h.requested(2),
    ]
    expect(left([...begun, stop, rewound(null)]).attempts).toEqual({ 1: 8, 2: 1 })
    expect(left([...begun, stop, rewound(null), stop, rewound(null)]).attempts).toEqual({ 1: 9, 2: 2 })
  })

  it('no id that anything ever had is given again', () => {
    expect(left([h.requested(4), h.requested(2), stop, rewound(null)]).endId).toBe(5)
    expect(left([...planned, stop, rewound(null)]).endId).toBe(5)
    expect(left([{ type: 'lockReleased', lock: 1 }, stop, rewound(null)]).endId).toBe(1)
  })
})

describe('a task is rebuilt from its history', () => {
  const history: TaskEvent[] = [
    h.submitted,
    h.started,
    { type: 'timerStarted', id: 1, until: 3 },
    { type: 'waitStarted', id: 2, name: 'e', until: null },
    { type: 'timerFired', id: 1 },
    { type: 'signalReceived', name: 'e', payload: 5 },
  ]
  const dated = (events: TaskEvent[]) => events.map((event, index) => ({ at: index * 10, event }))

  it('with what its code asked for and was told, and when', () => {
    const { decisions, deliveries, deliveredAt, startedAt } = rebuild('t', dated(history))
    expect(decisions.map(({ type }) => type)).toEqual(['timerStarted', 'waitStarted'])
    expect(deliveries.map(({ id }) => id)).toEqual([1, 2])
    expect([deliveredAt, startedAt]).toEqual([[40, 50], 10])
  })

  it('from the run that goes on', () => {
    const anew: TaskEvent[] = [
      ...history,
      { type: 'continuedAsNew', input: 1, nextId: 3, pendingSignals: [] },
      h.requested(3),
    ]
    const { decisions, deliveries, deliveredAt, startedAt } = rebuild('t', dated(anew))
    expect([decisions.map(({ type }) => type), deliveries, deliveredAt, startedAt]).toEqual([
      ['stepRequested'],
      [],
      [],
      60,
    ])
  })

  it('in pieces, with the same outcome', () => {
    const long = dated([...history, ...Array.from({ length: 200 }, (): TaskEvent => ({ type: 'patched', patch: 'p' }))])
    const pieces = rebuilding('t', long)
    let pauses = 0
    let last = pieces.next()
    for (; !last.done; last = pieces.next()) pauses++
    expect(pauses).toBe(2)
    expect(last.value).toEqual(rebuild('t', long))
  })
})

describe('a stopped task that had been through everything', () => {
  const events: TaskEvent[] = [
    { ...h.submitted, exclusive: [{ key: 'k', ifHeld: 'queue' }], completeBy: 5_000 },
    h.started,
    h.requested(1),
    h.completed(1),
    h.requested(2, { batch: h.batch }),
    h.requested(3, { verify: true }),
    h.failedAttempt(3, { unknown: true, next: { operation: 'verify', at: 1 } }),
    { type: 'stepSuspended', id: 2, ...h.trace },
    h.called(4),
    { type: 'timerStarted', id: 5, until: 9_000 },
    { type: 'waitStarted', id: 6, name: 'e', until: null },
    { type: 'patched', patch: 'p' },
    { type: 'lockRequested', id: 7, name: 'm', until: null },
  ]
  const rest: Partial<TaskState> = {
    ...{ status: 'stopped', result: 'error', output: 1, error: h.error, progress: 2, frozen: true, begun: true },
    ...{
      asides: 4,
      generation: 5,
      failures: 6,
      tried: { 1: 2 },
      skipped: true,
      undone: 7,
      undoBegun: true,
      lastFailed: 8,
    },
    ...{ mailbox: [{ name: 'old', payload: 1 }], deferred: [{ id: 5, ok: true, value: 1 }] },
    pause: { reason: 'operator', since: 1, from: 'running', error: undefined, note: undefined, broken: false },
    closing: { cause: 'cancel', compensate: true },
  }
  const tired = (more: Partial<TaskState> = {}) => {
    const fold = new Fold(...events)
    fold.state.predecessors.set('x', { on: 'end', result: null })
    Object.assign(fold.state, rest, more)
    return fold
  }
  const plan = newPlanState({ first: 1, steps: [], policies: [], groups: [], output: null })
  const kept = {
    workflow: 'w',
    version: '1',
    completeBy: 5_000,
    input: 3,
    firstId: 12,
    nextId: 12,
    endId: 12,
    ordinal: 0,
  }
  const key = { name: 'k', ifHeld: 'queue' as const, until: null }
  const pending = [{ name: 'e', payload: 1 }]

  it('has nothing of it when it continues as new, but what it was promised from outside', () => {
    const { state } = tired()
    const fold = tired({ plan })
    fold.changes({ type: 'continuedAsNew', input: 3, nextId: 12, pendingSignals: pending, locksHeld: true })
    const locks = tableOf([[0, { ...key, standing: 'held' }]])
    const signals = { mailbox: pending, asides: -pending.length }
    expect(fold.state).toEqual({ ...newState('t'), ...kept, status: 'running', begun: true, ...signals, locks })
    expect(state.steps.size).toBe(2)
  })

  it('begins like one that was just submitted when it starts over', () => {
    const fold = tired({ status: 'running', plan })
    fold.changes({ type: 'continuedAsNew', input: 3, nextId: 12, pendingSignals: [], fromStart: true })
    const locks = tableOf([[0, { ...key, standing: 'lost' }]])
    expect(fold.state).toEqual({ ...newState('t'), ...kept, status: 'pending', begun: false, locks })
  })

  it('has nothing of its end when it goes on', () => {
    const fold = tired()
    fold.changes({ type: 'reset', step: null, attempts: { 1: 4, 3: 9 }, endId: 20 })
    expect(fold.state).toMatchObject({
      ...{ status: 'running', result: 'pending', output: undefined, error: undefined, closing: null, pause: null },
      ...{ frozen: false, deferred: [], generation: 6, tried: { 1: 4, 3: 9 }, endId: 20, completeBy: 5_000 },
      predecessors: tableOf([]),
    })
    expect(fold.state.locks.get(7)?.standing).toBe('lost')
    expect(fold.state.steps.get(3)).toMatchObject({
      operation: 'verify',
      attempt: 10,
      attempts: { run: 9, verify: 10 },
    })
  })

  it.each<[begun: boolean, planned: boolean, status: string]>([
    [true, false, 'running'],
    [false, false, 'pending'],
    [false, true, 'planned'],
    [true, true, 'running'],
  ])('goes on where its code had begun (%s), its plan was there (%s): %s', (begun, planned, status) => {
    const fold = planned ? new Fold(...h.plan([{ action: 'a.b' }])) : tired()
    Object.assign(fold.state, { begun, status: 'stopped' })
    fold.changes({ type: 'reset', step: null })
    expect(fold.state.status).toBe(status)
  })

  it.each([
    ['running', 2, 'running'],
    ['error', 2, 'running'],
    ['suspended', 2, 'running'],
    ['compensating', 1, 'compensating'],
    ['success', 1, 'success'],
  ] as const)('tries a step again that is %s', (before, attempt, after) => {
    const fold = new Fold(h.started, h.requested(1, { verify: false }), h.stopped('error'))
    const step = fold.state.steps.get(1)
    Object.assign(step ?? {}, { status: before })
    fold.changes({ type: 'reset', step: 1, input: 9 })
    expect(step).toMatchObject({ status: after, attempt, input: attempt === 2 ? 9 : null })
  })

  it('edits the input of one step and of no other', () => {
    const fold = new Fold(
      ...h.plan([{ action: 'a.b' }, { action: 'a.b' }]),
      h.requested(1),
      h.requested(2),
      h.stopped('error'),
    )
    fold.changes({ type: 'reset', step: 1, input: 9 })
    expect([...fold.state.steps.values()].map(({ input }) => input)).toEqual([9, null])
    expect(fold.state.plan?.edited).toEqual(new Map([[1, 9]]))
  })

  it.each<[step: number | null, input: number | undefined]>([
    [null, 9],
    [1, undefined],
  ])('edits nothing where step and input are %s and %s', (step, input) => {
    const fold = new Fold(...h.plan([{ action: 'a.b' }]), h.requested(1), h.stopped('error'))
    fold.changes({ type: 'reset', step, ...(input !== undefined && { input }) })
    expect(fold.state.plan?.edited.size).toBe(0)
  })

  it('has no step parked any more', () => {
    const fold = new Fold(
      ...h.plan([{ action: 'a.b' }]),
      h.requested(1),
      { type: 'plannedStepFailed', id: 1, error: h.error },
      h.stopped('error'),
    )
    fold.changes({ type: 'reset', step: 1 })
    expect(fold.state.plan?.failedSteps.size).toBe(0)
  })

  it.each([
    [1_049, null],
    [1_050, null],
    [1_051, 1_051],
    [null, null],
  ])('is not bound by a complete-by that has passed: of %s remains %s', (completeBy, left) => {
    const fold = new Fold(
      { ...h.submitted, ...(completeBy !== null && { completeBy }) },
      h.started,
      { type: 'patched', patch: 'p' },
      h.stopped('error'),
    )
    fold.changes({ type: 'reset', step: null })
    expect(fold.state.completeBy).toBe(left)
  })

  it('tells only who rebuilds it what it kept back while it was paused', () => {
    const told = (attempts?: object) =>
      tired().changes({ type: 'reset', step: null, ...(attempts && { attempts }) } as TaskEvent).told
    expect([told({}), told()]).toEqual(['5: 1', undefined])
  })
})
