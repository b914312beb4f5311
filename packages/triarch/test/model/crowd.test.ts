import { describe, expect, it } from 'vitest'
import type { PageItem } from '../../src/kernel/batch/batch.ts'
import { isUrgent } from '../../src/kernel/batch/batching.ts'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Message } from '../../src/kernel/message.ts'
import type { TaskOutcome } from '../../src/kernel/status.ts'
import { Fold } from './fold.ts'
import * as h from './history.ts'
import { type Circumstances, turned } from './turned.ts'

const items: PageItem[] = ['a', 'b', 'c'].map((input) => ({ input }))
const asks = (policy = {}, more = {}): TaskEvent[] => [
  h.started,
  h.requested(1, { batch: { ...h.batch, concurrency: 2, ...policy }, ...more }),
]
const paged = (total?: number): TaskEvent => ({
  type: 'stepSuspended',
  id: 1,
  ...(total !== undefined && { total }),
  ...h.trace,
})
/** So many children of all there are have been started. */
const runs = (begun: number, total: number | undefined, policy = {}, more = {}): TaskEvent[] => [
  ...asks(policy, more),
  paged(total),
  { type: 'batchAdvanced', id: 1, started: begun },
]
const ends = (ordinal: number, result: TaskOutcome = 'success'): Message => ({
  ...{ type: 'child', step: 1, ordinal, result },
  ...(result === 'success' ? {} : { error: { ...h.error, message: `no ${ordinal}` } }),
})
const ended = (ordinal: number, result: TaskOutcome): TaskEvent => ({
  type: 'batchAdvanced',
  id: 1,
  ended: [[ordinal, ordinal, result]],
})
const stopping: TaskEvent = { type: 'batchStopping', id: 1, error: h.error }
const page = (last: boolean, offset = 0): Message =>
  h.reply(1, { kind: 'suspended', page: { offset, items: [...items], last } })
const cancel: Message = { type: 'cancel', force: false, compensate: null }
/** It is done, with two children to undo. */
const undoing: TaskEvent[] = [
  ...runs(3, 3, { concurrency: 3, tolerate: 1 }),
  ended(0, 'success'),
  ended(1, 'error'),
  ended(2, 'success'),
  h.completed(1),
  h.closing(true),
  { type: 'compensating' },
  h.undoing(1),
]
const allAsked: TaskEvent[] = [...undoing, { type: 'batchAdvanced', id: 1, started: 3 }]
const gives = (circumstances: Circumstances): Circumstances => ({ buffer: items, ...circumstances })

const table: [what: string, history: readonly TaskEvent[], circumstances: Circumstances, does: string[]][] = [
  [
    'has its first page',
    asks(),
    { mail: [page(false)] },
    ['stepSuspended 1 attempt=1', 'batchAdvanced 1 started=2', 'makes t~1.0 0 "a"', 'makes t~1.1 1 "b"'],
  ],
  [
    'has its last page',
    asks(),
    { mail: [page(true)] },
    ['stepSuspended 1 total=3 attempt=1', 'batchAdvanced 1 started=2', 'makes t~1.0 0 "a"', 'makes t~1.1 1 "b"'],
  ],
  [
    'has a page that it did not ask for',
    asks(),
    { mail: [page(false, 3)] },
    ['stepSuspended 1 attempt=1', 'stepSignalled 1 name="page" payload=null', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'has an empty page',
    asks(),
    { mail: [h.reply(1, { kind: 'suspended', page: { offset: 0, items: [], last: true } })] },
    [
      'stepSuspended 1 total=0 attempt=1',
      'stepCompleted 1 output={total=0 success=0 failed=0 cancelled=0} attempt=1',
      'tells 1: {"total":0,"success":0,"failed":0,"cancelled":0}',
    ],
  ],
  ['waits for its page', asks(), {}, []],
  ['has room', runs(1, undefined), gives({}), ['batchAdvanced 1 started=1', 'makes t~1.1 1 "a"']],
  ['has no room', runs(2, undefined), gives({}), []],
  [
    'has room and no input',
    runs(1, undefined),
    {},
    ['stepSignalled 1 name="page" payload=null', 'starts 1 run 2', 'wakes +0'],
  ],
  ['has room and started all', runs(1, 1), {}, []],
  ['is paused', [...runs(1, undefined), { type: 'paused', reason: 'operator' }], gives({}), []],
  [
    'is set going while another step is held',
    [
      ...runs(1, undefined),
      h.requested(2),
      { type: 'paused', reason: 'step', step: 2, error: h.error },
      { type: 'paused', reason: 'step', step: 1, error: h.error },
      { type: 'stepRetried', id: 1, at: 1_000 },
      paged(),
    ],
    gives({}),
    ['batchAdvanced 1 started=1 again=1', 'posts t~1.0 retry', 'posts t~1.0 report', 'makes t~1.1 1 "a"'],
  ],
  [
    'has a child that ended',
    runs(2, undefined),
    gives({ mail: [ends(0)] }),
    ['batchAdvanced 1 ended=[[0, 0, "success"]] started=1', 'makes t~1.2 2 "a"'],
  ],
  [
    'has children that ended',
    runs(2, undefined),
    gives({ mail: [ends(0), ends(1)] }),
    ['batchAdvanced 1 ended=[[0, 1, "success"]] started=2', 'makes t~1.2 2 "a"', 'makes t~1.3 3 "b"'],
  ],
  [
    'has a child that ended twice',
    runs(2, undefined),
    gives({ mail: [ends(0), ends(0)] }),
    ['batchAdvanced 1 ended=[[0, 0, "success"]] started=1', 'makes t~1.2 2 "a"', 'stale 1'],
  ],
  [
    'has a child that ended before',
    [...runs(2, undefined), ended(0, 'success')],
    gives({ mail: [ends(0)] }),
    ['batchAdvanced 1 started=1', 'makes t~1.2 2 "a"', 'stale 1'],
  ],
  [
    'has a child that ended with a warning',
    runs(2, 2),
    { mail: [ends(0, 'warning')] },
    ['batchAdvanced 1 ended=[[0, 0, "warning"]]'],
  ],
  [
    'has a child of another',
    runs(2, 2),
    { mail: [{ type: 'child', step: 2, ordinal: 0, result: 'success' }] },
    ['stale 1'],
  ],
  [
    'ends',
    [...runs(2, 2), ended(0, 'success')],
    { mail: [ends(1)] },
    [
      'batchAdvanced 1 ended=[[1, 1, "success"]]',
      'stepCompleted 1 output={total=2 success=2 failed=0 cancelled=0} attempt=1',
      'tells 1: {"total":2,"success":2,"failed":0,"cancelled":0}',
    ],
  ],
  [
    'ends with a failure that it bears',
    [...runs(2, 2, { tolerate: 1 }), ended(0, 'error')],
    { mail: [ends(1)] },
    [
      'batchAdvanced 1 ended=[[1, 1, "success"]]',
      'stepCompleted 1 output={total=2 success=1 failed=1 cancelled=0} attempt=1',
      'tells 1: {"total":2,"success":1,"failed":1,"cancelled":0}',
    ],
  ],
  [
    'ends with a failure of those that it bears a share of',
    [...runs(2, 2, { tolerate: '50%' }), ended(0, 'error')],
    { mail: [ends(1)] },
    [
      'batchAdvanced 1 ended=[[1, 1, "success"]]',
      'stepCompleted 1 output={total=2 success=1 failed=1 cancelled=0} attempt=1',
      'tells 1: {"total":2,"success":1,"failed":1,"cancelled":0}',
    ],
  ],
  [
    'fails with more than the share that it bears',
    [...runs(3, 3, { tolerate: '60%', concurrency: 3 }), ended(0, 'error')],
    { mail: [ends(1, 'error')] },
    [
      'batchAdvanced 1 ended=[[1, 1, "error"]] error=(Error: no 1)',
      'batchStopping 1 error=(BATCH_FAILED: 2 of 3 children of b failed, the first with: no 1 < (Error: no 1) {success=0 failed=2})',
      'posts t~1.2 cancel force=false compensate=true reason="the batch was stopped"',
    ],
  ],
  [
    'bears any failure',
    [...runs(2, 2, { tolerate: null }), ended(0, 'error')],
    { mail: [ends(1, 'error')] },
    [
      'batchAdvanced 1 ended=[[1, 1, "error"]] error=(Error: no 1)',
      'stepCompleted 1 output={total=2 success=0 failed=2 cancelled=0} attempt=1',
      'tells 1: {"total":2,"success":0,"failed":2,"cancelled":0}',
    ],
  ],
  [
    'bears any share while nobody knows of how many',
    runs(2, undefined, { tolerate: '1%' }),
    { mail: [ends(0, 'error')] },
    [
      'batchAdvanced 1 ended=[[0, 0, "error"]] error=(Error: no 0)',
      'stepSignalled 1 name="page" payload=null',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'fails',
    runs(2, undefined),
    gives({ mail: [ends(0, 'error')] }),
    [
      'batchAdvanced 1 ended=[[0, 0, "error"]] error=(Error: no 0)',
      'batchStopping 1 error=(BATCH_FAILED: 1 of 2 children of b failed, the first with: no 0 < (Error: no 0) {success=0 failed=1})',
      'posts t~1.1 cancel force=false compensate=true reason="the batch was stopped"',
    ],
  ],
  [
    'fails, and its children are left',
    runs(2, undefined, { onCancel: 'detach' }),
    gives({ mail: [ends(0, 'error')] }),
    [
      'batchAdvanced 1 ended=[[0, 0, "error"]] error=(Error: no 0)',
      'batchStopping 1 error=(BATCH_FAILED: 1 of 2 children of b failed, the first with: no 0 < (Error: no 0) {success=0 failed=1})',
      'stepFailed 1 error=(BATCH_FAILED: 1 of 2 children of b failed, the first with: no 0 < (Error: no 0) {success=0 failed=1})',
      'tells 1: step',
    ],
  ],
  [
    'fails, and its children are awaited',
    runs(2, undefined, { onCancel: 'wait' }),
    gives({ mail: [ends(0, 'error')] }),
    [
      'batchAdvanced 1 ended=[[0, 0, "error"]] error=(Error: no 0)',
      'batchStopping 1 error=(BATCH_FAILED: 1 of 2 children of b failed, the first with: no 0 < (Error: no 0) {success=0 failed=1})',
    ],
  ],
  [
    'fails, and the last child has ended',
    [...runs(2, undefined), ended(0, 'error'), stopping],
    { mail: [ends(1, 'cancelled')] },
    [
      'batchAdvanced 1 ended=[[1, 1, "cancelled"]] error=(Error: no 1)',
      'stepFailed 1 error=(Error: no)',
      'tells 1: step',
    ],
  ],
  [
    'fails, and may be skipped',
    [...runs(2, undefined, {}, { rescue: 'skip' }), ended(0, 'error'), stopping],
    { mail: [ends(1, 'cancelled')] },
    [
      'batchAdvanced 1 ended=[[1, 1, "cancelled"]] error=(Error: no 1)',
      'stepSkipped 1 output=null by="rescue"',
      'tells 1: null',
    ],
  ],
  [
    'fails at its end, for it goes on until then',
    [...runs(2, 2, { failFast: false }), ended(0, 'error')],
    { mail: [ends(1)] },
    [
      'batchAdvanced 1 ended=[[1, 1, "success"]]',
      'stepFailed 1 error=(BATCH_FAILED: 1 of 2 children of b failed {success=1 failed=1})',
      'tells 1: step',
    ],
  ],
  [
    'goes on after a failure',
    runs(2, undefined, { failFast: false }),
    gives({ mail: [ends(0, 'error')] }),
    ['batchAdvanced 1 ended=[[0, 0, "error"]] started=1 error=(Error: no 0)', 'makes t~1.2 2 "a"'],
  ],
  [
    'has enough',
    runs(2, 3, { quorum: 1 }),
    gives({ mail: [ends(0)] }),
    [
      'batchAdvanced 1 ended=[[0, 0, "success"]]',
      'batchStopping 1',
      'posts t~1.1 cancel force=false compensate=true reason="the batch was stopped"',
    ],
  ],
  [
    'has not yet enough',
    runs(2, 4, { quorum: 2 }),
    gives({ mail: [ends(0)] }),
    ['batchAdvanced 1 ended=[[0, 0, "success"]] started=1', 'makes t~1.2 2 "a"'],
  ],
  [
    'had enough',
    [...runs(2, 3, { quorum: 1 }), ended(0, 'success'), { type: 'batchStopping', id: 1 }],
    { mail: [ends(1, 'cancelled')] },
    [
      'batchAdvanced 1 ended=[[1, 1, "cancelled"]] error=(Error: no 1)',
      'stepCompleted 1 output={total=3 success=1 failed=0 cancelled=1} attempt=1',
      'tells 1: {"total":3,"success":1,"failed":0,"cancelled":1}',
    ],
  ],
  [
    'cannot have enough any more',
    runs(2, 2, { quorum: 2, tolerate: null }),
    { mail: [ends(0, 'error')] },
    [
      'batchAdvanced 1 ended=[[0, 0, "error"]] error=(Error: no 0)',
      'batchStopping 1 error=(BATCH_FAILED: 1 of 2 children of b failed, the first with: no 0 < (Error: no 0) {success=0 failed=1})',
      'posts t~1.1 cancel force=false compensate=true reason="the batch was stopped"',
    ],
  ],
  [
    'can still have enough',
    runs(2, 3, { quorum: 2, tolerate: null }),
    gives({ mail: [ends(0, 'error')] }),
    ['batchAdvanced 1 ended=[[0, 0, "error"]] started=1 error=(Error: no 0)', 'makes t~1.2 2 "a"'],
  ],
  [
    'may have enough, for nobody knows how many there are',
    runs(2, undefined, { quorum: 2, tolerate: null }),
    gives({ mail: [ends(0, 'error')] }),
    ['batchAdvanced 1 ended=[[0, 0, "error"]] started=1 error=(Error: no 0)', 'makes t~1.2 2 "a"'],
  ],
  [
    'ends without enough',
    [...runs(2, 2, { quorum: 2, tolerate: null, failFast: false }), ended(0, 'error')],
    { mail: [ends(1)] },
    [
      'batchAdvanced 1 ended=[[1, 1, "success"]]',
      'stepFailed 1 error=(BATCH_FAILED: 1 of 2 children of b failed {success=1 failed=1})',
      'tells 1: step',
    ],
  ],
  [
    'ends with just enough',
    [...runs(2, 2, { quorum: 1, tolerate: null, failFast: false }), ended(0, 'error')],
    { mail: [ends(1)] },
    [
      'batchAdvanced 1 ended=[[1, 1, "success"]]',
      'batchStopping 1',
      'stepCompleted 1 output={total=2 success=1 failed=1 cancelled=0} attempt=1',
      'tells 1: {"total":2,"success":1,"failed":1,"cancelled":0}',
    ],
  ],
  [
    'has a child whose id another task has',
    runs(2, undefined),
    gives({ mail: [{ type: 'child', step: 1, result: 'error', refused: { child: 't~1.1', code: 'TASK_EXISTS' } }] }),
    [
      'batchAdvanced 1 foreign=[1] error=(TASK_EXISTS: task "t~1.1" exists already {task="t~1.1"})',
      'batchStopping 1 error=(BATCH_FAILED: 1 of 2 children of b failed, the first with: task "t~1.1" exists already < (TASK_EXISTS: task "t~1.1" exists already {task="t~1.1"}) {success=0 failed=1})',
      'posts t~1.0 cancel force=false compensate=true reason="the batch was stopped"',
    ],
  ],
  [
    'has a child whose lock another task has',
    runs(2, undefined, { tolerate: 1 }),
    gives({
      mail: [
        { type: 'child', step: 1, result: 'error', refused: { child: 't~1.0', code: 'LOCK_HELD', lock: 'l', by: 'x' } },
      ],
    }),
    [
      'batchAdvanced 1 foreign=[0] started=1 error=(LOCK_HELD: lock "l" is held by task "x" {lock="l" by=["x"]})',
      'makes t~1.2 2 "a"',
    ],
  ],
  [
    'has a child that was refused twice',
    runs(2, undefined, { tolerate: 2 }),
    {
      mail: [1, 2].map(() => ({
        type: 'child',
        step: 1,
        result: 'error',
        refused: { child: 't~1.1', code: 'TASK_EXISTS' },
      })),
    },
    [
      'batchAdvanced 1 foreign=[1] error=(TASK_EXISTS: task "t~1.1" exists already {task="t~1.1"})',
      'stepSignalled 1 name="page" payload=null',
      'stale 1',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'has nobody that was refused',
    runs(2, undefined, { tolerate: 1 }),
    { mail: [{ type: 'child', step: 1, result: 'error', error: { ...h.error, message: 'task "t~1.1" exists' } }] },
    ['stale 1'],
  ],
  [
    'has a source that fails while children run',
    asks().concat({ type: 'batchAdvanced', id: 1, started: 2 }),
    { mail: [h.reply(1, h.failed({ retryable: false }))] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'batchStopping 1 error=(Error: no)',
      'posts t~1.0 cancel force=false compensate=true reason="the batch was stopped"',
      'posts t~1.1 cancel force=false compensate=true reason="the batch was stopped"',
    ],
  ],
  [
    'has a source that fails while children run that are left',
    asks({ onCancel: 'detach' }).concat({ type: 'batchAdvanced', id: 1, started: 2 }),
    { mail: [h.reply(1, h.failed({ retryable: false }))] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'batchStopping 1 error=(Error: no)',
      'stepFailed 1 error=(Error: no)',
      'tells 1: step',
    ],
  ],
  [
    'has a source that fails and no children',
    asks(),
    { mail: [h.reply(1, h.failed({ retryable: false }))] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'has a source that fails after it failed itself',
    [
      ...asks(),
      { type: 'batchAdvanced', id: 1, started: 1 },
      stopping,
      { type: 'stepSignalled', id: 1, name: 'page', payload: null },
    ],
    { mail: [h.reply(1, h.failed(), { attempt: 2 })] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=2', 'batchStopping 1 error=(Error: no)'],
  ],
  [
    'is tried again',
    [
      ...runs(3, undefined, { concurrency: 3 }),
      ended(0, 'error'),
      ended(1, 'success'),
      ended(2, 'error'),
      stopping,
      { type: 'paused', reason: 'step', step: 1, error: h.error },
    ],
    { mail: [{ type: 'retry', step: 1 }] },
    [
      'stepRetried 1 at=+0',
      'resumed',
      'batchAdvanced 1 again=2',
      'posts t~1.0 retry',
      'posts t~1.0 report',
      'posts t~1.2 retry',
      'posts t~1.2 report',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'is tried again with little room',
    [
      ...runs(3, undefined, { concurrency: 3 }),
      ended(0, 'error'),
      ended(1, 'success'),
      ended(2, 'error'),
      stopping,
      { type: 'paused', reason: 'step', step: 1, error: h.error },
      { type: 'stepRetried', id: 1, at: 1_000 },
      { type: 'resumed' },
      { type: 'batchAdvanced', id: 1, again: 1 },
    ],
    {},
    ['batchAdvanced 1 again=1', 'posts t~1.2 retry', 'posts t~1.2 report'],
  ],
  [
    'is cancelled',
    runs(2, undefined),
    gives({ mail: [cancel] }),
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'batchStopping 1',
      'posts t~1.0 cancel force=false compensate=true reason="the batch was stopped"',
      'posts t~1.1 cancel force=false compensate=true reason="the batch was stopped"',
    ],
  ],
  [
    'is cancelled without undoing',
    runs(2, undefined),
    gives({ mail: [{ ...cancel, compensate: false }] }),
    [
      'closing cause="cancel" compensate=false error=(TASK_CANCELLED: cancelled)',
      'batchStopping 1',
      'posts t~1.0 cancel force=false compensate=false reason="the batch was stopped"',
      'posts t~1.1 cancel force=false compensate=false reason="the batch was stopped"',
    ],
  ],
  [
    'is cancelled while it waits for its page',
    asks().concat({ type: 'batchAdvanced', id: 1, started: 1 }),
    { mail: [cancel] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'batchStopping 1',
      'posts t~1.0 cancel force=false compensate=true reason="the batch was stopped"',
      'aborts 1',
      'forgets 1',
    ],
  ],
  [
    'is cancelled, and its children are left',
    runs(2, undefined, { onCancel: 'detach' }),
    gives({ mail: [cancel] }),
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'batchStopping 1',
      'stepCancelled 1',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled)',
    ],
  ],
  [
    'is cancelled, and its children are awaited',
    runs(2, undefined, { onCancel: 'wait' }),
    gives({ mail: [cancel] }),
    ['closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)', 'batchStopping 1'],
  ],
  [
    'is cancelled and its children have ended',
    [...runs(1, undefined), h.closing(true), { type: 'batchStopping', id: 1 }],
    { mail: [ends(0, 'cancelled')] },
    [
      'batchAdvanced 1 ended=[[0, 0, "cancelled"]] error=(Error: no 0)',
      'stepCancelled 1',
      'stopped result="cancelled"',
    ],
  ],
  [
    'is stopped by force',
    runs(2, undefined),
    { mail: [{ ...cancel, force: true }] },
    [
      'closing cause="cancel" compensate=false error=(TASK_CANCELLED: cancelled {left=1})',
      'stepCancelled 1',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled {left=1})',
      'posts t~1.0 cancel force=true compensate=null',
      'posts t~1.1 cancel force=true compensate=null',
      'aborts 1',
      'forgets 1',
    ],
  ],
  [
    'is stopped by force, and its children are left',
    runs(2, undefined, { onCancel: 'detach' }),
    { mail: [{ ...cancel, force: true }] },
    [
      'closing cause="cancel" compensate=false error=(TASK_CANCELLED: cancelled {left=1})',
      'stepCancelled 1',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled {left=1})',
      'aborts 1',
      'forgets 1',
    ],
  ],
  [
    'is undone',
    undoing,
    {},
    ['batchAdvanced 1 started=3', 'posts t~1.2 compensate', 'posts t~1.1 compensate', 'posts t~1.0 compensate'],
  ],
  [
    'is undone with little room',
    undoing.map((event) =>
      event.type === 'stepRequested' ? h.requested(1, { batch: { ...h.batch, concurrency: 2, tolerate: 1 } }) : event,
    ),
    {},
    ['batchAdvanced 1 started=2', 'posts t~1.2 compensate', 'posts t~1.1 compensate'],
  ],
  [
    'is undone, and a child has undone',
    allAsked,
    { mail: [ends(2, 'compensated')] },
    ['batchAdvanced 1 ended=[[2, 2, "compensated"]]'],
  ],
  [
    'is undone, and a child had not heard of it',
    allAsked,
    { mail: [ends(2), ends(0, 'warning')] },
    ['posts t~1.2 compensate', 'posts t~1.0 compensate'],
  ],
  [
    'is undone, and all children have',
    [...allAsked, ended(0, 'compensated'), ended(1, 'error')],
    { mail: [ends(2, 'compensated')] },
    ['batchAdvanced 1 ended=[[2, 2, "compensated"]]', 'undone 1 attempt=1', 'stopped result="cancelled"'],
  ],
  [
    'is undone, and one child was another task',
    [
      ...runs(2, 2, { tolerate: 1 }),
      { type: 'batchAdvanced', id: 1, foreign: [1] },
      ended(0, 'success'),
      h.completed(1),
      h.closing(true),
    ],
    {},
    ['compensating', 'undoRequested 1 at=+0', 'batchAdvanced 1 started=2', 'posts t~1.0 compensate'],
  ],
  ['is undone whose task is paused', [...undoing, { type: 'paused', reason: 'operator' }], {}, []],
  [
    'is undone, and most of its children were other tasks',
    [
      ...runs(4, 4, { tolerate: 9, concurrency: 1 }),
      { type: 'batchAdvanced', id: 1, foreign: [1, 2, 3] },
      ended(0, 'success'),
      h.completed(1),
      h.closing(true),
    ],
    {},
    ['compensating', 'undoRequested 1 at=+0', 'batchAdvanced 1 started=4', 'posts t~1.0 compensate'],
  ],
  [
    'is undone, and all of its children were other tasks but one that failed',
    [
      ...runs(2, 2, { tolerate: 9, concurrency: 1 }),
      { type: 'batchAdvanced', id: 1, foreign: [0] },
      ended(1, 'success'),
      h.completed(1),
      h.closing(true),
      { type: 'compensating' },
      h.undoing(1),
      { type: 'batchAdvanced', id: 1, started: 1 },
    ],
    { mail: [ends(1, 'compensated')] },
    ['batchAdvanced 1 ended=[[1, 1, "compensated"]] started=1', 'undone 1 attempt=1', 'stopped result="cancelled"'],
  ],
  [
    'is paused and ends with enough',
    [...runs(2, 2, { quorum: 1, tolerate: null }), ended(0, 'error'), { type: 'paused', reason: 'operator' }],
    { mail: [ends(1)] },
    [
      'batchAdvanced 1 ended=[[1, 1, "success"]]',
      'stepCompleted 1 output={total=2 success=1 failed=1 cancelled=0} attempt=1',
    ],
  ],
  [
    'is paused and ends without enough',
    [...runs(2, 2, { quorum: 1, tolerate: null }), ended(0, 'error'), { type: 'paused', reason: 'operator' }],
    { mail: [ends(1, 'error')] },
    [
      'batchAdvanced 1 ended=[[1, 1, "error"]] error=(Error: no 1)',
      'stepFailed 1 error=(BATCH_FAILED: 2 of 2 children of b failed, the first with: no 1 < (Error: no 1) {success=0 failed=2})',
    ],
  ],
  [
    'is paused while some of its children are to be tried again',
    [
      ...runs(3, undefined, { concurrency: 1 }),
      ended(0, 'error'),
      ended(1, 'success'),
      ended(2, 'error'),
      stopping,
      { type: 'stepRetried', id: 1, at: 1_000 },
      { type: 'batchAdvanced', id: 1, again: 1 },
      paged(3),
      { type: 'paused', reason: 'operator' },
    ],
    { mail: [ends(0)] },
    ['batchAdvanced 1 ended=[[0, 0, "success"]]'],
  ],
  [
    'is undone whose task is paused, and all children have',
    [...allAsked, ended(0, 'compensated'), ended(1, 'error'), { type: 'paused', reason: 'operator' }],
    { mail: [ends(2, 'compensated')] },
    ['batchAdvanced 1 ended=[[2, 2, "compensated"]]'],
  ],
]

it.each(table)('when a batch %s, this comes of it', (_, history, circumstances, does) => {
  expect(turned(history, circumstances)).toEqual(does)
})

describe('a letter of a child of a batch', () => {
  const letter = (result: TaskOutcome): Message => ({ type: 'child', step: 1, ordinal: 0, result })
  const of = (policy: object, begun = 40, total?: number, more: TaskEvent[] = []) => [
    ...runs(begun, total, { concurrency: 40, tolerate: 1, ...policy }),
    ...more,
  ]

  it.each<[what: string, history: TaskEvent[], message: Message, waiting: number, urgent: boolean]>([
    ['that is of another kind', of({}), { type: 'resume' }, 1, true],
    ['that is not of a batch', of({}), { type: 'child', step: 1, result: 'success' }, 1, true],
    ['of which nobody knows', of({}), { ...letter('success'), step: 9 } as Message, 1, true],
    ['that may be followed by more', of({}), letter('success'), 1, false],
    ['that is one of a tenth of what runs at once', of({}), letter('success'), 4, true],
    ['that is one of almost a tenth of what runs at once', of({}), letter('success'), 3, false],
    ['that is the last', of({}, 2), letter('success'), 2, true],
    ['that is not the last', of({}, 3), letter('success'), 2, false],
    ['that makes enough', of({ quorum: 2 }), letter('success'), 2, true],
    ['that does not make enough', of({ quorum: 3 }), letter('success'), 2, false],
    [
      'that makes enough with others',
      of({ quorum: 3 }, 40, undefined, [ended(1, 'success')]),
      letter('success'),
      2,
      true,
    ],
    ['that makes too many failures', of({}), letter('error'), 2, true],
    ['that makes just not too many failures', of({}), letter('error'), 1, false],
    ['that makes too many failures with others', of({}, 40, undefined, [ended(1, 'error')]), letter('error'), 1, true],
    ['that fails where all go on until the end', of({ failFast: false }), letter('error'), 3, false],
    [
      'that succeeds where the next failure is too many',
      of({}, 40, undefined, [ended(1, 'error')]),
      letter('success'),
      1,
      false,
    ],
    ['of one that is done', [...of({}, 2), h.completed(1)], letter('success'), 2, true],
  ])('%s', (_, history, message, waiting, urgent) => {
    expect(isUrgent(new Fold(...history).state, message, waiting)).toBe(urgent)
  })
})
