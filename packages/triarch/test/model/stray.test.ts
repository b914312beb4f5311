import { expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import { Fold } from './fold.ts'

const error = { name: 'Error', message: 'no' }
const trace = { attempt: 1, startedAt: 1_990, endedAt: 2_000, node: 'n' }
const retry = { attempts: 3, initial: 10, factor: 2, max: 30, jitter: false }
const requested = (id: number): TaskEvent => {
  return { type: 'stepRequested', id, action: 'a.b', name: 'b', input: null, policy: { retry, undo: true } }
}
const failed: TaskEvent = { type: 'attemptFailed', id: 1, operation: 'run', error, unknown: true, ...trace }
const running: TaskEvent[] = [{ type: 'started' }, requested(1)]
const doubtful: TaskEvent[] = [...running, failed, { type: 'paused', reason: 'unknown-outcome', step: 1, error }]
const timer: TaskEvent[] = [...running, { type: 'timerStarted', id: 2, until: 5_000 }]
const deaf: TaskEvent[] = [...timer, { type: 'paused', reason: 'operator' }, { type: 'timerFired', id: 2 }]

/** Histories of older versions may tell of steps that are over. */
it.each<TaskEvent>([
  { type: 'stepCompleted', id: 9, output: 1, ...trace },
  { type: 'stepSuspended', id: 9, ...trace },
  { type: 'stepSignalled', id: 9, name: 'x', payload: 1 },
  { ...failed, id: 9 },
  { type: 'verified', id: 9, answer: 'unknown' },
  { type: 'verifyRequested', id: 9, at: 3_000 },
  { type: 'stepFailed', id: 9, error },
  { type: 'stepSkipped', id: 9, by: 'operator' },
  { type: 'plannedStepFailed', id: 9, error },
  { type: 'stepCancelled', id: 9 },
  { type: 'stepRetried', id: 9, at: 3_000 },
  { type: 'undoRequested', id: 9, at: 3_000 },
  { type: 'childStopped', id: 9, result: 'success' },
  { type: 'predecessorStopped', task: 'x', result: 'success' },
  { type: 'lockGranted', id: 9, fence: 1 },
  { type: 'lockRefused', id: -9, error },
  { type: 'batchAdvanced', id: 9, started: 1 },
])('nothing changes by $type of what is not there', (event) => {
  expect(new Fold(...running).changes(event)).toEqual({})
})

it('a step that was in doubt and held is neither once it is told to have completed', () => {
  const changes = new Fold(...doubtful).changes({ type: 'stepCompleted', id: 1, output: 7, by: 'operator', ...trace })
  expect(changes).toMatchObject({ 'step 1.held': 'none', 'step 1.unknown': false, 'step 1.kept': 'done' })
})

it('what a paused task was sent is told once, when it goes on', () => {
  const fold = new Fold(...deaf)
  expect(fold.changes({ type: 'resumed' })).toMatchObject({ told: '2: null', 'deferred.0.id': 'none' })
  fold.changes({ type: 'paused', reason: 'operator' })
  expect(fold.changes({ type: 'resumed' })).not.toHaveProperty('told')
})

it('what a paused task was sent is told nobody once it is cancelled', () => {
  const fold = new Fold(...deaf)
  expect(fold.changes({ type: 'closing', cause: 'cancel', compensate: false })).toHaveProperty(
    ['deferred.0.id'],
    'none',
  )
})

it.each([{ attempts: {}, told: '2: null' }, { told: undefined }])(
  'a rewind tells what the pause kept back to a run that is rebuilt only: $told',
  ({ attempts, told }) => {
    const fold = new Fold(...deaf)
    expect(fold.changes({ type: 'reset', step: null, ...(attempts && { attempts }) }).told).toBe(told)
  },
)

it('losses count from the last attempt that ended otherwise, and an undo has a budget of its own', () => {
  const lost: TaskEvent = { ...failed, lost: 'death', next: { operation: 'run', at: 2_100 } }
  expect(new Fold(...running, lost).changes(failed)).toMatchObject({ 'step 1.losses': 0 })
  const undoing: TaskEvent[] = [...running, lost, { type: 'stepCompleted', id: 1, output: 7, ...trace }]
  const undone: TaskEvent = { type: 'undoRequested', id: 1, at: 3_000 }
  expect(new Fold(...undoing).changes(undone)).toMatchObject({ 'step 1.losses': 0 })
  const spent: TaskEvent[] = [...undoing, undone, { ...failed, operation: 'undo' }]
  expect(new Fold(...spent).state.steps.get(1)?.failures.undo).toBe(1)
})

it('a stopped task that is to undo what it did has lost its locks', () => {
  const locked: TaskEvent[] = [
    { type: 'lockRequested', id: 1, name: 'm', until: null },
    { type: 'lockGranted', id: 1 },
  ]
  const fold = new Fold({ type: 'started' }, ...locked, { type: 'stopped', result: 'success' })
  fold.changes({ type: 'lockGranted', id: 1 })
  expect(fold.changes({ type: 'closing', cause: 'operator', compensate: true })).toMatchObject({
    status: 'running',
    'locks 1.standing': 'lost',
  })
})

it('a plan needs no word that it was being made', () => {
  const plan = { first: 1, steps: [{ action: 'a.b' }], policies: [], groups: [], output: null }
  expect(new Fold({ type: 'planned', plan }).state).toMatchObject({ status: 'planned', nextId: 2 })
})

it('a heartbeat of a step that is over says nothing but that it came', () => {
  expect(
    new Fold(...running).changes({
      type: 'heartbeat',
      id: 9,
      attempt: 1,
      progress: 1,
      checkpoint: 1,
      trial: 'survived',
    }),
  ).toEqual({
    asides: 1,
  })
})

it.each<[what: string, events: TaskEvent[], message: string]>([
  [
    'undone that was never to be undone',
    [...running, { type: 'undone', id: 1, ...trace }],
    'step move running → compensated',
  ],
  [
    'completed that waits for an undo',
    [
      ...doubtful,
      { type: 'stepCompleted', id: 1, output: 1, ...trace },
      { type: 'undoRequested', id: 1, at: 1 },
      { type: 'stepSkipped', id: 1, by: 'operator' },
    ],
    'step move compensating → skipped',
  ],
  [
    'cancelled that is undone',
    [
      ...doubtful,
      { type: 'stepCompleted', id: 1, output: 1, ...trace },
      { type: 'undoRequested', id: 1, at: 1 },
      { type: 'stepCancelled', id: 1 },
    ],
    'step move compensating → cancelled',
  ],
  [
    'running that stopped',
    [...running, { type: 'stopped', result: 'success' }, { type: 'planning' }],
    'task move stopped → planning',
  ],
])('a history in which something is %s is refused', (_, events, message) => {
  expect(() => new Fold(...events)).toThrow(`illegal ${message}`)
})

it('what the pages of a batch gave is asked for again once it stopped or is tried again', () => {
  const batch = {
    workflow: 'c',
    version: '1',
    concurrency: 5,
    page: 5,
    tolerate: 0,
    failFast: true,
    quorum: null,
    onCancel: 'cancel' as const,
  }
  const events: TaskEvent[] = [{ type: 'started' }, { ...requested(1), policy: { batch } } as TaskEvent]
  for (const event of [
    { type: 'batchStopping', id: 1 },
    { type: 'stepRetried', id: 1, at: 1 },
  ] satisfies TaskEvent[]) {
    const fold = new Fold(...events)
    fold.state.batches.get(1)?.buffer.push({ input: 1 })
    fold.changes(event)
    expect(fold.state.batches.get(1)?.buffer).toEqual([])
  }
})
