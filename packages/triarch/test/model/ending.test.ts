import { expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Message } from '../../src/kernel/message.ts'
import * as h from './history.ts'
import { type Circumstances, turned } from './turned.ts'

const cancel: Message = { type: 'cancel', force: false, compensate: null }
const force: Message = { type: 'cancel', force: true, compensate: null }
const running: TaskEvent[] = [h.started, h.requested(1), h.requested(2, { undo: false })]
const wary: TaskEvent[] = [...running, { type: 'stepSuspended', id: 1, notifyOnCancel: true, ...h.trace }]
const waits: TaskEvent[] = [...running, { type: 'stepSuspended', id: 1, ...h.trace }]
const doubtful: TaskEvent = h.failedAttempt(1, { unknown: true, next: { operation: 'run', at: 9_000 } })
const asking: TaskEvent = h.failedAttempt(1, { unknown: true, next: { operation: 'verify', at: 9_000 } })
const done: TaskEvent[] = [h.started, h.requested(1), h.completed(1)]
/** One was requested after the other had completed. */
const chain: TaskEvent[] = [...done, h.requested(2), h.completed(2)]
/** Both were requested before either had completed. */
const abreast: TaskEvent[] = [h.started, h.requested(1), h.requested(2), h.completed(1), h.completed(2)]
const parent: TaskEvent[] = [
  h.started,
  h.called(1),
  h.called(2, { mode: 'start' }),
  h.called(3, { onCancel: 'wait', undo: false }),
  h.called(4, { onCancel: 'detach' }),
]
const orphan: TaskEvent[] = [h.started, h.called(1), { type: 'childStopped', id: 1, result: 'success' }]
const child: TaskEvent = { ...h.submitted, parent: { task: 'p', step: 3 } }
const locked: TaskEvent[] = [
  { ...h.submitted, exclusive: [{ key: 'k', ifHeld: 'queue' }] },
  { type: 'locksRequested' },
  { type: 'lockGranted', id: 0 },
  h.started,
  { type: 'lockRequested', id: 1, name: 'm', until: null },
  { type: 'lockGranted', id: 1 },
]
const returns: TaskEvent = { type: 'returned', output: 4 }
const anew: TaskEvent = { type: 'continueAsNewRequested', input: 5 }

const table: [what: string, history: readonly TaskEvent[], circumstances: Circumstances, does: string[]][] = [
  [
    'it returns with nothing under way',
    [h.started],
    { code: [{ type: 'returned', output: 4 }] },
    ['returned output=4', 'stopped result="success" output=4'],
  ],
  [
    'it returns nothing at all',
    [h.started, { ...returns, output: undefined } as unknown as TaskEvent],
    {},
    ['stopped result="success" output=null'],
  ],
  [
    'it returns after a step was skipped',
    [h.started, h.requested(1), { type: 'stepSkipped', id: 1, by: 'rescue' }],
    { code: [{ type: 'returned', output: 4 }] },
    ['returned output=4', 'stopped result="warning" output=4'],
  ],
  [
    'it returns while a step runs',
    running,
    { code: [{ type: 'returned', output: 4 }] },
    ['returned output=4', 'aborts 1', 'aborts 2'],
  ],
  [
    'what it was asked to give up has ended',
    [...running, returns],
    { mail: [h.reply(1, h.done), h.reply(2, h.done)] },
    ['stepCompleted 1 output=7 attempt=1', 'stepCompleted 2 output=7 attempt=1', 'stopped result="success" output=4'],
  ],
  [
    'it returns and a parent waits for it',
    [child, h.started],
    { code: [{ type: 'returned', output: 4 }] },
    ['returned output=4', 'stopped result="success" output=4', 'posts p child step=3 result="success" output=4'],
  ],
  [
    'it returns as one of a batch',
    [{ ...h.submitted, parent: { task: 'p', step: 3, ordinal: 2 } }, h.started],
    { code: [{ type: 'returned', output: 4 }] },
    ['returned output=4', 'stopped result="success" output=4', 'posts p child step=3 result="success" ordinal=2'],
  ],
  ['it stopped long ago', [child, h.started, h.stopped('success', { output: 4 })], {}, []],
  [
    'its parent asks how it ended',
    [child, h.started, h.stopped('error', { error: h.error })],
    { mail: [{ type: 'report' }] },
    ['posts p child step=3 result="error" error=(Error: no)'],
  ],
  ['its parent asks while it runs', [child, h.started], { mail: [{ type: 'report' }] }, []],
  ['somebody asks who is no parent', [h.started, h.stopped('success')], { mail: [{ type: 'report' }] }, []],
  [
    'its code throws',
    done,
    { code: [{ type: 'threw', error: h.error, rescue: 'compensate' }] },
    [
      'threw error=(Error: no) rescue="compensate"',
      'compensating',
      'undoRequested 1 at=+0',
      'starts 1 undo 1',
      'wakes +0',
    ],
  ],
  [
    'its code throws where nothing is undone',
    done,
    { code: [{ type: 'threw', error: h.error, rescue: 'fail' }] },
    ['threw error=(Error: no) rescue="fail"', 'stopped result="error" error=(Error: no)'],
  ],
  [
    'its code throws and nothing was done',
    [h.started],
    { code: [{ type: 'threw', error: h.error, rescue: 'compensate' }] },
    ['threw error=(Error: no) rescue="compensate"', 'stopped result="error" error=(Error: no)'],
  ],
  [
    'it is cancelled',
    running,
    { mail: [cancel] },
    ['closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)', 'aborts 1', 'aborts 2'],
  ],
  [
    'it is cancelled, as somebody says',
    running,
    { mail: [{ ...cancel, reason: 'r' }] },
    ['closing cause="cancel" compensate=true error=(TASK_CANCELLED: r)', 'aborts 1', 'aborts 2'],
  ],
  [
    'it is cancelled twice',
    running,
    { mail: [cancel, cancel] },
    ['closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)', 'aborts 1', 'aborts 2', 'stale 1'],
  ],
  [
    'it is cancelled without undoing',
    done,
    { mail: [{ ...cancel, compensate: false }] },
    [
      'closing cause="cancel" compensate=false error=(TASK_CANCELLED: cancelled)',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled {left=1})',
    ],
  ],
  [
    'it is cancelled and undone',
    done,
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'compensating',
      'undoRequested 1 at=+0',
      'starts 1 undo 1',
      'wakes +0',
    ],
  ],
  [
    'it is cancelled while a retry is awaited',
    [h.started, h.requested(1), h.failedAttempt(1, { next: { operation: 'run', at: 9_000 } })],
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'stepCancelled 1',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled)',
    ],
  ],
  [
    'it is cancelled while a retry of unknown outcome is awaited',
    [h.started, h.requested(1), doubtful],
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'stepCancelled 1',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled)',
      'alerts unknown-outcome 1: step 1 (b) was given up, and nobody knows whether it took effect',
    ],
  ],
  [
    'it is cancelled while a retry of unknown outcome is awaited that can be verified',
    [h.started, h.requested(1, { verify: true }), doubtful],
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'verifyRequested 1 at=+0',
      'starts 1 verify 1',
      'wakes +0',
    ],
  ],
  [
    'it is cancelled while a verification is awaited',
    [h.started, h.requested(1, { verify: true }), asking],
    { mail: [cancel] },
    ['closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)', 'wakes +7950'],
  ],
  [
    'it is cancelled while a step is held',
    [...running, h.failedAttempt(1), { type: 'paused', reason: 'step', step: 1, error: h.error }],
    { mail: [cancel] },
    ['closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)', 'stepCancelled 1', 'aborts 2'],
  ],
  [
    'it is cancelled while a step of unknown outcome is held',
    [
      h.started,
      h.requested(1, { verify: true, semantics: 'at-most-once' }),
      h.failedAttempt(1, { unknown: true }),
      { type: 'paused', reason: 'unknown-outcome', step: 1, error: h.error },
    ],
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'verifyRequested 1 at=+0',
      'starts 1 verify 1',
      'wakes +0',
    ],
  ],
  [
    'it is cancelled while a step waits',
    waits,
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'stepCancelled 1',
      'aborts 2',
      'alerts unknown-outcome 1: step 1 (b) was given up, and nobody knows whether it took effect',
    ],
  ],
  [
    'it is cancelled while a step waits that can be verified',
    [h.started, h.requested(1, { verify: true }), { type: 'stepSuspended', id: 1, ...h.trace }],
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'verifyRequested 1 at=+0',
      'starts 1 verify 1',
      'wakes +0',
    ],
  ],
  [
    'it is cancelled while a step waits that wants to be told',
    wary,
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'stepSignalled 1 name="cancel" payload=null',
      'aborts 2',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'a step that was told waits again',
    [...wary, h.closing(false), { type: 'stepSignalled', id: 1, name: 'cancel', payload: null }],
    { mail: [h.reply(1, { kind: 'suspended', wary: true }, { attempt: 2 })] },
    [
      'stepSuspended 1 notifyOnCancel=true attempt=2',
      'stepCancelled 1',
      'aborts 2',
      'alerts unknown-outcome 1: step 1 (b) was given up, and nobody knows whether it took effect',
    ],
  ],
  [
    'a step that was told is still busy',
    [
      h.started,
      h.requested(1),
      wary[3] as TaskEvent,
      h.closing(false),
      { type: 'stepSignalled', id: 1, name: 'cancel', payload: null },
    ],
    {},
    [],
  ],
  [
    'a step that was told is to be tried again',
    [
      h.started,
      h.requested(1),
      wary[3] as TaskEvent,
      h.closing(false),
      { type: 'stepSignalled', id: 1, name: 'cancel', payload: null },
    ],
    { fresh: true },
    ['starts 1 run 2', 'wakes -10'],
  ],
  [
    'it is cancelled while children run',
    parent,
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'posts c1 cancel force=false compensate=true reason="the parent stopped"',
      'posts c2 cancel force=false compensate=true reason="the parent stopped"',
    ],
  ],
  [
    'it returns while children run',
    parent,
    { code: [{ type: 'returned', output: 4 }] },
    ['returned output=4', 'posts c1 cancel force=false compensate=true reason="the parent stopped"'],
  ],
  ['nothing happened since it was cancelled', [...parent, h.closing(true)], {}, []],
  [
    'its children have ended',
    [...parent, h.closing(true)],
    { mail: [1, 2, 3].map((step) => ({ type: 'child', step, result: 'cancelled' })) },
    [
      'childStopped 1 result="cancelled"',
      'childStopped 2 result="cancelled"',
      'childStopped 3 result="cancelled"',
      'stopped result="cancelled"',
    ],
  ],
  [
    'it is stopped by force',
    [...running, h.called(3), h.called(4, { onCancel: 'detach' })],
    { mail: [force] },
    [
      'closing cause="cancel" compensate=false error=(TASK_CANCELLED: cancelled {left=2})',
      'stepCancelled 1',
      'stepCancelled 2',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled {left=2})',
      'posts c3 cancel force=true compensate=null',
      'aborts 1',
      'aborts 2',
      'forgets 1',
      'forgets 2',
    ],
  ],
  [
    'it is stopped by force while it undoes',
    [...done, h.closing(true), { type: 'compensating' }, h.undoing(1)],
    { mail: [force] },
    [
      'closing cause="cancel" compensate=false error=(TASK_CANCELLED: cancelled {left=1})',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled {left=1})',
      'aborts 1',
      'forgets 1',
    ],
  ],
  [
    'it is stopped by force and its children had ended',
    orphan,
    { mail: [force] },
    [
      'closing cause="cancel" compensate=false error=(TASK_CANCELLED: cancelled {left=1})',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled {left=1})',
    ],
  ],
  [
    'it is cancelled while it undoes',
    [...done, h.closing(true, { cause: 'operator' }), { type: 'compensating' }, h.undoing(1)],
    { mail: [cancel] },
    ['stale 1'],
  ],
  [
    'it is cancelled while its undoing is held',
    [
      ...done,
      h.closing(true, { cause: 'operator' }),
      { type: 'compensating' },
      h.undoing(1),
      { type: 'paused', reason: 'undo', step: 1, error: h.error },
    ],
    { mail: [cancel] },
    ['stale 1'],
  ],
  [
    'it is cancelled after it stopped',
    [h.started, h.stopped('success')],
    { mail: [{ ...cancel, outside: true }] },
    ['messageIgnored message="cancel" reason="the task has stopped"'],
  ],
  [
    'it is undone',
    [...done, h.stopped('success')],
    { mail: [{ type: 'compensate', outside: true }] },
    [
      'closing cause="operator" compensate=true',
      'compensating',
      'undoRequested 1 at=+0',
      'starts 1 undo 1',
      'wakes +0',
    ],
  ],
  [
    'it is undone that had a warning',
    [...done, h.stopped('warning')],
    { mail: [{ type: 'compensate', outside: true }] },
    [
      'closing cause="operator" compensate=true',
      'compensating',
      'undoRequested 1 at=+0',
      'starts 1 undo 1',
      'wakes +0',
    ],
  ],
  [
    'it is undone and has nothing to undo',
    [h.started, h.stopped('success')],
    { mail: [{ type: 'compensate' }] },
    ['closing cause="operator" compensate=true', 'stopped result="compensated"'],
  ],
  [
    'it is undone that failed',
    [...done, h.stopped('error')],
    { mail: [{ type: 'compensate', outside: true }] },
    ['messageIgnored message="compensate" reason="the task has not succeeded"'],
  ],
  [
    'it is undone while it runs',
    done,
    { mail: [{ type: 'compensate', outside: true }] },
    ['messageIgnored message="compensate" reason="the task has not succeeded"'],
  ],
  [
    'its parent undoes it, and it had failed',
    [child, h.started, h.stopped('error', { error: h.error })],
    { mail: [{ type: 'compensate' }] },
    ['posts p child step=3 result="error" error=(Error: no)'],
  ],
  [
    'steps in a row are undone',
    [...chain, h.closing(true)],
    {},
    ['compensating', 'undoRequested 2 at=+0', 'starts 2 undo 1', 'wakes +0'],
  ],
  [
    'the last of a row is undone',
    [...chain, h.closing(true), { type: 'compensating' }, h.undoing(2)],
    { mail: [h.reply(2, h.done, { operation: 'undo' })] },
    ['undone 2 attempt=1', 'undoRequested 1 at=+0', 'starts 1 undo 1', 'wakes +0'],
  ],
  [
    'steps side by side are undone',
    [...abreast, h.closing(true)],
    {},
    [
      'compensating',
      'undoRequested 1 at=+0',
      'undoRequested 2 at=+0',
      'starts 1 undo 1',
      'starts 2 undo 1',
      'wakes +0',
    ],
  ],
  [
    'one side by side is undone',
    [...abreast, h.closing(true), { type: 'compensating' }, h.undoing(1), h.undoing(2)],
    { mail: [h.reply(1, h.done, { operation: 'undo' })] },
    ['undone 1 attempt=1'],
  ],
  [
    'two side by side before one are undone',
    [...abreast, h.requested(3), h.completed(3), h.closing(true)],
    {},
    ['compensating', 'undoRequested 3 at=+0', 'starts 3 undo 1', 'wakes +0'],
  ],
  [
    'two side by side after one are undone',
    [...done, h.requested(2), h.requested(3), h.completed(3), h.completed(2), h.closing(true)],
    {},
    [
      'compensating',
      'undoRequested 2 at=+0',
      'undoRequested 3 at=+0',
      'starts 2 undo 1',
      'starts 3 undo 1',
      'wakes +0',
    ],
  ],
  [
    'a child is undone after a step that came after it',
    [...orphan, h.requested(2), h.completed(2), h.closing(true)],
    {},
    ['compensating', 'undoRequested 2 at=+0', 'starts 2 undo 1', 'wakes +0'],
  ],
  [
    'a child is undone',
    [...orphan, h.closing(true)],
    {},
    ['compensating', 'undoRequested 1 at=+0', 'posts c1 compensate'],
  ],
  [
    'a child that is to be undone says how it ended',
    [...orphan, h.closing(true), { type: 'compensating' }, h.undoing(1)],
    { mail: [{ type: 'child', step: 1, result: 'success' }] },
    ['posts c1 compensate'],
  ],
  [
    'a child that is to be undone ended with a warning',
    [...orphan, h.closing(true), { type: 'compensating' }, h.undoing(1)],
    { mail: [{ type: 'child', step: 1, result: 'warning' }] },
    ['posts c1 compensate'],
  ],
  [
    'a child is undone at last',
    [...orphan, h.closing(true), { type: 'compensating' }, h.undoing(1)],
    { mail: [{ type: 'child', step: 1, result: 'compensated' }] },
    ['undone 1 attempt=1', 'stopped result="cancelled"'],
  ],
  [
    'a child ends',
    [h.started, h.called(1)],
    { mail: [{ type: 'child', step: 1, result: 'success', output: 6 }] },
    ['childStopped 1 result="success" output=6', 'tells 1: 6'],
  ],
  [
    'a child ends twice',
    [h.started, h.called(1)],
    {
      mail: [
        { type: 'child', step: 1, result: 'success', output: 6 },
        { type: 'child', step: 1, result: 'success', output: 6 },
      ],
    },
    ['childStopped 1 result="success" output=6', 'tells 1: 6', 'stale 1'],
  ],
  [
    'a child fails',
    [h.started, h.called(1)],
    { mail: [{ type: 'child', step: 1, result: 'error', error: h.error }] },
    ['childStopped 1 result="error" error=(Error: no)', 'tells 1: child'],
  ],
  [
    'a child was never made',
    [h.started, h.called(1)],
    { mail: [{ type: 'child', step: 1, result: 'error', refused: { child: 'c1', code: 'TASK_EXISTS' } }] },
    ['childStopped 1 result="error" error=(TASK_EXISTS: task "c1" exists already {task="c1"})', 'tells 1: child'],
  ],
  [
    'a child was never made for its lock is held',
    [h.started, h.called(1)],
    {
      mail: [
        { type: 'child', step: 1, result: 'error', refused: { child: 'c1', code: 'LOCK_HELD', lock: 'l', by: 'x' } },
      ],
    },
    [
      'childStopped 1 result="error" error=(LOCK_HELD: lock "l" is held by task "x" {lock="l" by=["x"]})',
      'tells 1: child',
    ],
  ],
  [
    'a child ends that nobody knows',
    [h.started],
    { mail: [{ type: 'child', step: 1, result: 'success' }] },
    ['stale 1'],
  ],
  [
    'a child that cannot be undone is left',
    [h.started, h.called(1, { undo: false }), { type: 'childStopped', id: 1, result: 'success' }, h.closing(true)],
    {},
    ['stopped result="cancelled"'],
  ],
  [
    'a child that failed is left',
    [h.started, h.called(1), { type: 'childStopped', id: 1, result: 'error' }, h.closing(true)],
    {},
    ['stopped result="cancelled"'],
  ],
  [
    'it continues as new',
    [...locked, anew],
    { mail: [{ type: 'event', name: 'e', payload: 1 }] },
    [
      'signalReceived name="e" payload=1',
      'continuedAsNew input=5 nextId=2 pendingSignals=[{name="e" payload=1}] locksHeld=true',
      'unlocks 1',
      'reloads',
    ],
  ],
  [
    'it continues as new without an input',
    [h.started, { type: 'continueAsNewRequested' } as unknown as TaskEvent],
    {},
    ['continuedAsNew input=null nextId=1 pendingSignals=[] locksHeld=true', 'reloads'],
  ],
  ['it continues as new while a step runs', [...running, anew], {}, ['aborts 1', 'aborts 2']],
  [
    'it continues as new while a child runs that was started',
    [h.started, h.called(1, { mode: 'start' }), anew],
    {},
    [
      'continuedAsNew input=5 nextId=2 pendingSignals=[] locksHeld=true',
      'childCarried 1 task="c1" workflow="v" mode="start" onCancel="cancel" undo=true ended=false requestedAt=-2 completedAt=-5',
      'reloads',
    ],
  ],
  [
    'it is past its time',
    [{ ...h.submitted, completeBy: 1_050 }, ...done],
    {},
    [
      'closing cause="deadline" compensate=true error=(TASK_DEADLINE: the task was not done by its complete-by)',
      'compensating',
      'undoRequested 1 at=+0',
      'starts 1 undo 1',
      'wakes +0',
    ],
  ],
  ['it is just in time', [{ ...h.submitted, completeBy: 1_051 }, ...done], {}, ['wakes +1']],
  [
    'it is past its time and ends already',
    [{ ...h.submitted, completeBy: 1_050 }, ...running, returns],
    {},
    ['aborts 1', 'aborts 2'],
  ],
  [
    'it is past its time and undoes',
    [{ ...h.submitted, completeBy: 1_050 }, ...done, h.closing(true), { type: 'compensating' }, h.undoing(1)],
    {},
    [],
  ],
  [
    'it is past its time and has stopped',
    [{ ...h.submitted, completeBy: 1_020 }, h.started, h.stopped('success')],
    {},
    [],
  ],
  [
    'it had an operator stop what it does, and nothing was done',
    [h.started, h.closing(true, { cause: 'operator' })],
    {},
    ['stopped result="compensated"'],
  ],
  [
    'it has more events than it may',
    [h.started],
    { limits: { history: 1 } },
    [
      'closing cause="limit" compensate=true error=(HISTORY_TOO_LONG: the history has more than 1 events: use continueAsNew or children)',
      'stopped result="error" error=(HISTORY_TOO_LONG: the history has more than 1 events: use continueAsNew or children)',
    ],
  ],
  ['it is paused and ends', [...running, h.closing(true), { type: 'paused', reason: 'operator' }], {}, []],
  [
    'an event comes while it ends',
    [...running, h.closing(true)],
    { mail: [{ type: 'event', name: 'e', payload: 1, outside: true }] },
    ['messageIgnored message="event" name="e" reason="the task stops or has stopped"', 'aborts 1', 'aborts 2'],
  ],
  [
    'an event comes after it stopped',
    [h.started, h.stopped('success')],
    { mail: [{ type: 'event', name: 'e', payload: 1 }] },
    ['stale 1'],
  ],
  [
    'an event comes while it continues as new',
    [...running, anew],
    { mail: [{ type: 'event', name: 'e', payload: 1 }] },
    ['signalReceived name="e" payload=1', 'aborts 1', 'aborts 2'],
  ],
  [
    'it was told already to give up what it runs',
    running,
    { mail: [cancel], next: [] },
    ['closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)', 'aborts 1', 'aborts 2', 'and then'],
  ],
  [
    'it undoes what its code registered',
    [h.started, { type: 'undoRegistered', id: 1, name: 'u' }, h.closing(true)],
    {},
    ['compensating', 'undoRequested 1 at=+0', 'starts 1 undo 1', 'wakes +0'],
  ],
  [
    'it undoes what its code registered, the latest first',
    [
      h.started,
      { type: 'undoRegistered', id: 1, name: 'u' },
      { type: 'undoRegistered', id: 2, name: 'v' },
      h.closing(true),
    ],
    {},
    ['compensating', 'undoRequested 2 at=+0', 'starts 2 undo 1', 'wakes +0'],
  ],
  [
    'it could have begun, as its parent wants to know',
    [{ ...h.submitted, startBefore: 1_019, parent: { task: 'p', step: 3 } }],
    {},
    [
      'stopped result="error" error=(TASK_EXPIRED: the task did not start before its start-before)',
      'posts p child step=3 result="error" error=(TASK_EXPIRED: the task did not start before its start-before)',
    ],
  ],
  [
    'it stopped long ago and is told so',
    [child, h.started, h.stopped('success')],
    { mail: [{ ...cancel, outside: true }] },
    ['messageIgnored message="cancel" reason="the task has stopped"'],
  ],
]

it.each(table)('of a task: when %s, this comes of it', (_, history, circumstances, does) => {
  expect(turned(history, circumstances)).toEqual(does)
})
