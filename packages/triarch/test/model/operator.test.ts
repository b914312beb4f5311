import { expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Message } from '../../src/kernel/message.ts'
import * as h from './history.ts'
import { type Circumstances, turned } from './turned.ts'

const outside = { outside: true } as const
const retry: Message = { type: 'retry', ...outside }
const resume: Message = { type: 'resume', ...outside }
const skip: Message = { type: 'skip', step: 1, ...outside }
const running: TaskEvent[] = [h.started, h.requested(1), h.requested(2)]
const hold = (step: number): TaskEvent => ({ type: 'paused', reason: 'step', step, error: h.error })
const waiting: TaskEvent[] = [...running, h.failedAttempt(1, { next: { operation: 'run', at: 9_000_000_000_000 } })]
const held: TaskEvent[] = [...running, h.failedAttempt(1), hold(1)]
const both: TaskEvent[] = [...held, h.failedAttempt(2), hold(2)]
const failed: TaskEvent[] = [
  ...running,
  h.completed(2),
  { type: 'stepFailed', id: 1, error: h.error },
  { type: 'threw', error: { ...h.error, code: 'STEP_FAILED', details: { stepId: 1 } }, rescue: 'fail' },
  h.stopped('error', { error: h.error }),
]
const undoing: TaskEvent[] = [
  ...running,
  h.completed(1),
  h.completed(2),
  h.closing(true),
  { type: 'compensating' },
  h.undoing(1),
  h.undoing(2),
]
const undone: TaskEvent[] = [
  ...undoing,
  { type: 'undone', id: 1, ...h.trace },
  { type: 'undone', id: 2, ...h.trace },
  h.stopped('cancelled'),
]
const locked: TaskEvent[] = [
  h.started,
  { type: 'lockRequested', id: 1, name: 'm', until: null },
  { type: 'lockGranted', id: 1 },
  h.closing(false),
  h.stopped('cancelled'),
  { type: 'reset', step: null },
  { type: 'paused', reason: 'lock' },
]
const busy: TaskEvent[] = [
  ...running,
  { type: 'stepSuspended', id: 1, ...h.trace },
  { type: 'stepSignalled', id: 1, name: 'x', payload: 3 },
]
const token = { step: 1, key: 't:1', ...outside }
const signal: Message = { type: 'signal', name: 'y', payload: 5, ...token }

const table: [what: string, history: readonly TaskEvent[], circumstances: Circumstances, does: string[]][] = [
  ['pauses a task', running, { mail: [{ type: 'pause', ...outside }] }, ['paused reason="operator"']],
  [
    'pauses a task, with a word',
    running,
    { mail: [{ type: 'pause', reason: 'r', ...outside }] },
    ['paused reason="operator" note="r"'],
  ],
  ['pauses a paused task', held, { mail: [{ type: 'pause', ...outside }] }, ['stale 1']],
  [
    'pauses a stopped task',
    failed,
    { mail: [{ type: 'pause', ...outside }] },
    ['messageIgnored message="pause" reason="the task has stopped"'],
  ],
  ['resumes a task', [...running, { type: 'paused', reason: 'operator' }], { mail: [resume] }, ['resumed']],
  [
    'resumes a task that runs',
    running,
    { mail: [resume] },
    ['messageIgnored message="resume" reason="the task is not paused"'],
  ],
  [
    'resumes a task with held steps',
    both,
    { mail: [resume] },
    ['stepRetried 1 at=+0', 'stepRetried 2 at=+0', 'resumed', 'starts 1 run 2', 'starts 2 run 2', 'wakes +0'],
  ],
  [
    'resumes a task whose code was broken',
    [...running, { type: 'paused', reason: 'error', error: h.error }],
    { mail: [resume] },
    ['resumed', 'reloads'],
  ],
  [
    'resumes a task that waits for its locks',
    locked,
    { mail: [resume] },
    ['messageIgnored message="resume" reason="the task waits for its locks"'],
  ],
  [
    'resumes a task that was refused its locks',
    [...locked, { type: 'lockRefused', id: 1, error: h.error }],
    { mail: [resume] },
    ['resumed', 'paused reason="lock"', 'locks 1 m queue'],
  ],
  [
    'retries a held step',
    held,
    { mail: [{ ...retry, step: 1 }] },
    ['stepRetried 1 at=+0', 'resumed', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'retries a held step with another input',
    held,
    { mail: [{ ...retry, step: 1, input: 8 }] },
    ['stepRetried 1 at=+0 input=8', 'resumed', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'retries one of two held steps',
    both,
    { mail: [{ ...retry, step: 2 }] },
    ['stepRetried 2 at=+0', 'starts 2 run 2', 'wakes +0'],
  ],
  [
    'retries all that is held',
    both,
    { mail: [retry] },
    ['stepRetried 1 at=+0', 'stepRetried 2 at=+0', 'resumed', 'starts 1 run 2', 'starts 2 run 2', 'wakes +0'],
  ],
  [
    'retries all that is held with one input',
    both,
    { mail: [{ ...retry, input: 8 }] },
    ['messageIgnored message="retry" reason="steps 1, 2 are held, and the input is for one: say by `step` for which"'],
  ],
  [
    'retries the one held step with another input',
    held,
    { mail: [{ ...retry, input: 8 }] },
    ['stepRetried 1 at=+0 input=8', 'resumed', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'retries a step that is not held',
    held,
    { mail: [{ ...retry, step: 2 }] },
    ['messageIgnored message="retry" step=2 reason="step 2 is not held"'],
  ],
  [
    'retries a task that runs',
    running,
    { mail: [retry] },
    ['messageIgnored message="retry" reason="the task neither is paused nor failed"'],
  ],
  [
    'retries a task that succeeded',
    [h.started, h.stopped('success')],
    { mail: [retry] },
    ['messageIgnored message="retry" reason="the task neither is paused nor failed"'],
  ],
  ['retries a task that failed', failed, { mail: [retry] }, ['reset step=1', 'reloads']],
  ['retries a task that failed from a step on', failed, { mail: [{ ...retry, step: 2 }] }, ['reset step=2', 'reloads']],
  [
    'retries a task that failed from a step on with another input',
    failed,
    { mail: [{ ...retry, step: 2, input: 8 }] },
    ['reset step=2 input=8', 'reloads'],
  ],
  [
    'retries a task that failed from a step that is not there',
    failed,
    { mail: [{ ...retry, step: 3 }] },
    ['messageIgnored message="retry" step=3 reason="there is no step 3 in this run"'],
  ],
  [
    'retries a task that failed from a step before its first',
    [
      ...failed,
      { type: 'continuedAsNew', input: 1, nextId: 3, pendingSignals: [] },
      h.requested(3),
      h.stopped('error'),
    ],
    { mail: [{ ...retry, step: 2 }] },
    ['messageIgnored message="retry" step=2 reason="there is no step 2 in this run"'],
  ],
  [
    'retries a task that failed from its first step',
    [
      ...failed,
      { type: 'continuedAsNew', input: 1, nextId: 3, pendingSignals: [] },
      h.requested(3),
      h.stopped('error'),
    ],
    { mail: [{ ...retry, step: 3 }] },
    ['reset step=3', 'reloads', 'wakes +0'],
  ],
  [
    'retries a task that failed with another input',
    failed,
    { mail: [{ ...retry, input: 8 }] },
    [
      'continuedAsNew input=8 nextId=3 pendingSignals=[] stops=1',
      'stepCarried 2 action="a.b" name="b" input=null output=2 policy={retry={attempts=3 initial=10 factor=2 max=30 jitter=false} undoRetry={attempts=3 initial=10 factor=2 max=30 jitter=false} completeWithin=50 undo=true defaults=1} generation=0 requestedAt=-5 completedAt=-4',
      'reloads',
    ],
  ],
  [
    'retries a task that was undone',
    undone,
    { mail: [retry] },
    ['continuedAsNew input=null nextId=3 pendingSignals=[] stops=1', 'reloads'],
  ],
  [
    'retries a task that was undone with another input',
    undone,
    { mail: [{ ...retry, input: 8 }] },
    ['continuedAsNew input=8 nextId=3 pendingSignals=[] stops=1', 'reloads'],
  ],
  [
    'retries a task with another input that had not begun',
    [h.closing(false), h.stopped('cancelled')],
    { mail: [{ ...retry, input: 8 }] },
    ['continuedAsNew input=8 nextId=1 pendingSignals=[] stops=1 fromStart=true', 'reloads'],
  ],
  [
    'retries a plan with another input',
    [...h.plan([{ action: 'a.b' }]), h.requested(1), h.closing(false), h.stopped('cancelled')],
    { mail: [{ ...retry, input: 8 }] },
    ['continuedAsNew input=8 nextId=2 pendingSignals=[] stops=1 fromStart=true', 'reloads'],
  ],
  [
    'retries a task whose child failed',
    [
      h.started,
      h.called(1),
      { type: 'childStopped', id: 1, result: 'error', error: h.error },
      { type: 'threw', error: { ...h.error, code: 'CHILD_FAILED', details: { childId: 'c1' } }, rescue: 'fail' },
      h.stopped('error'),
    ],
    { mail: [retry] },
    ['reset step=1 children=[1]', 'posts c1 retry', 'posts c1 report', 'reloads'],
  ],
  [
    'retries a held step that was busy with an event',
    [...busy, h.failedAttempt(1), hold(1)],
    { mail: [{ ...retry, step: 1 }] },
    ['stepRetried 1 at=+0 keepSignal=true', 'resumed', 'starts 1 run 3', 'wakes +0'],
  ],
  [
    'retries a held step that was busy with an event, with another input',
    [...busy, h.failedAttempt(1), hold(1)],
    { mail: [{ ...retry, step: 1, input: 8 }] },
    ['stepRetried 1 at=+0 input=8', 'resumed', 'starts 1 run 3', 'wakes +0'],
  ],
  [
    'retries a held step that was told of a timeout',
    [
      ...busy.slice(0, -1),
      { type: 'stepSignalled', id: 1, name: 'timeout', payload: null },
      h.failedAttempt(1),
      hold(1),
    ],
    { mail: [{ ...retry, step: 1 }] },
    ['stepRetried 1 at=+0', 'resumed', 'starts 1 run 3', 'wakes +0'],
  ],
  [
    'retries a held step that was told that its task stops',
    [
      ...busy.slice(0, -1),
      { type: 'stepSignalled', id: 1, name: 'cancel', payload: null },
      h.failedAttempt(1),
      hold(1),
    ],
    { mail: [{ ...retry, step: 1 }] },
    ['stepRetried 1 at=+0', 'resumed', 'starts 1 run 3', 'wakes +0'],
  ],
  [
    'retries an undo that is held',
    [...undoing, { type: 'paused', reason: 'undo', step: 1, error: h.error }],
    { mail: [{ ...retry, step: 1 }] },
    ['stepRetried 1 at=+0', 'resumed', 'starts 1 undo 2', 'wakes +0'],
  ],
  [
    'skips a held step',
    held,
    { mail: [skip] },
    ['stepSkipped 1 output=null by="operator"', 'resumed', 'tells 1: null'],
  ],
  [
    'skips a held step with an output',
    held,
    { mail: [{ ...skip, output: 8 }] },
    ['stepSkipped 1 output=8 by="operator"', 'resumed', 'tells 1: 8'],
  ],
  ['skips one of two held steps', both, { mail: [skip] }, ['stepSkipped 1 output=null by="operator"']],
  [
    'skips a step that is not held',
    held,
    { mail: [{ ...skip, step: 2 }] },
    ['messageIgnored message="skip" step=2 reason="step 2 is not held"'],
  ],
  [
    'skips a step of a task that runs',
    running,
    { mail: [skip] },
    ['messageIgnored message="skip" step=1 reason="step 1 is neither held nor waits for its next attempt"'],
  ],
  [
    'hurries a step that waits for its next attempt',
    waiting,
    { mail: [{ ...retry, step: 1 }] },
    ['stepRetried 1 at=+0', 'starts 1 run 3', 'wakes +0'],
  ],
  [
    'skips a step that waits for its next attempt',
    waiting,
    { mail: [{ ...skip, output: 'by hand' }] },
    ['stepSkipped 1 output="by hand" by="operator"', 'tells 1: "by hand"'],
  ],
  [
    'skips an undo that is held',
    [...undoing, { type: 'paused', reason: 'undo', step: 1, error: h.error }],
    { mail: [skip] },
    ['undone 1 by="operator" attempt=1', 'resumed'],
  ],
  [
    'skips the step that ended the task',
    failed,
    { mail: [{ ...skip, output: 8 }] },
    ['reset step=1', 'stepSkipped 1 output=8 by="operator"', 'reloads'],
  ],
  [
    'skips a step that did not end the task',
    failed,
    { mail: [{ ...skip, step: 2 }] },
    ['messageIgnored message="skip" step=2 reason="step 2 is not the one whose failure ended the task"'],
  ],
  [
    'skips a step after the task was undone',
    [
      ...failed.slice(0, -1),
      { type: 'compensating' },
      { type: 'undoRequested', id: 2, at: 1_000 },
      { type: 'undone', id: 2, ...h.trace },
      h.stopped('compensated'),
    ],
    { mail: [skip] },
    ['messageIgnored message="skip" step=1 reason="step 1 is not the one whose failure ended the task"'],
  ],
  [
    'skips the child that ended the task',
    [
      h.started,
      h.called(1),
      { type: 'childStopped', id: 1, result: 'error', error: h.error },
      { type: 'threw', error: { ...h.error, code: 'CHILD_FAILED', details: { childId: 'c1' } }, rescue: 'fail' },
      h.stopped('error'),
    ],
    { mail: [skip] },
    ['messageIgnored message="skip" step=1 reason="step 1 is not the one whose failure ended the task"'],
  ],
  [
    'skips a step of a plan with all behind it',
    [
      ...h.plan([{ action: 'a.b' }, { action: 'a.b', after: [1] }, { action: null, after: [2] }]),
      h.requested(1),
      h.failedAttempt(1),
      hold(1),
    ],
    { has: 'plan', mail: [skip] },
    [
      'stepSkipped 1 cascade=[2] by="operator"',
      'resumed',
      'returned output=null',
      'stopped result="warning" output=null',
    ],
  ],
  [
    'skips a step of a plan with an output',
    [...h.plan([{ action: 'a.b' }, { action: 'a.b', after: [1] }]), h.requested(1), h.failedAttempt(1), hold(1)],
    { has: 'plan', mail: [{ ...skip, output: 8 }] },
    [
      'stepSkipped 1 output=8 by="operator"',
      'resumed',
      'stepRequested 2 action="a.b" name="b" input=null policy={}',
      'starts 2 run 1',
      'wakes +0',
    ],
  ],
  [
    'sends an event',
    [h.started, { type: 'waitStarted', id: 1, name: 'e', until: null }],
    { mail: [{ type: 'event', name: 'e', payload: 1, ...outside }] },
    ['signalReceived name="e" payload=1', 'tells 1: 1'],
  ],
  [
    'signals a step that waits',
    busy.slice(0, -1),
    { mail: [signal] },
    ['stepSignalled 1 name="y" payload=5', 'starts 1 run 2', 'wakes +0'],
  ],
  ['signals a step that is busy', busy, { mail: [signal] }, ['stepSignalled 1 name="y" payload=5']],
  [
    'signals a step that is held while it waits',
    [...busy.slice(0, -1), { type: 'paused', reason: 'unknown-outcome', step: 1, error: h.error }],
    { mail: [signal] },
    ['stepSignalled 1 name="y" payload=5 queued=true'],
  ],
  ['signals a step that is held', held, { mail: [signal] }, ['stepSignalled 1 name="y" payload=5']],
  [
    'signals a step that is done',
    [...running, h.completed(1)],
    { mail: [signal] },
    ['messageIgnored message="signal" name="y" step=1 reason="step 1 is done"'],
  ],
  [
    'signals a step that is undone',
    undoing.map((event) => (event.type === 'closing' ? { ...event, cause: 'operator' as const } : event)),
    { mail: [signal] },
    ['messageIgnored message="signal" name="y" step=1 reason="the task stops or has stopped"'],
  ],
  [
    'signals a step that began anew',
    held.concat({ type: 'stepRetried', id: 1, at: 1_000, input: 8 }),
    { mail: [signal] },
    ['messageIgnored message="signal" name="y" step=1 reason="step 1 began anew since, under another token"'],
  ],
  [
    'signals a step that is verified',
    [
      h.started,
      h.requested(1, { verify: true }),
      h.failedAttempt(1, { unknown: true, next: { operation: 'verify', at: 1_000 } }),
    ],
    { mail: [signal] },
    ['stepSignalled 1 name="y" payload=5'],
  ],
  [
    'signals a task that stops',
    [...running, h.closing(false)],
    { mail: [signal] },
    ['messageIgnored message="signal" name="y" step=1 reason="the task stops or has stopped"', 'aborts 1', 'aborts 2'],
  ],
  [
    'signals a task that has stopped',
    failed,
    { mail: [signal] },
    ['messageIgnored message="signal" name="y" step=1 reason="the task stops or has stopped"'],
  ],
  [
    'thaws a task that is not frozen',
    running,
    { mail: [{ type: 'thaw', ...outside }] },
    ['messageIgnored message="thaw" reason="the task is not frozen"'],
  ],
  [
    'retries no step in particular',
    [h.started],
    { mail: [{ ...retry, step: undefined } as unknown as Message] },
    ['messageIgnored message="retry" reason="the task neither is paused nor failed"'],
  ],
  [
    'resumes a task in which another step waits',
    [...busy.slice(0, -1), h.failedAttempt(2), hold(2)],
    { mail: [resume] },
    ['stepRetried 2 at=+0', 'resumed', 'starts 2 run 2', 'wakes +0'],
  ],
]

it.each(table)('when somebody %s, this comes of it', (_, history, circumstances, does) => {
  expect(turned(history, circumstances)).toEqual(does)
})
