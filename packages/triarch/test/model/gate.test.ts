import { expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Message } from '../../src/kernel/message.ts'
import * as h from './history.ts'
import { type Circumstances, turned } from './turned.ts'

const exclusive = [
  { key: 'k', ifHeld: 'queue' as const },
  { key: 'l', ifHeld: 'reject' as const },
]
const keyed: TaskEvent = { ...h.submitted, exclusive }
const asked: TaskEvent[] = [keyed, { type: 'locksRequested' }]
const granted: TaskEvent[] = [...asked, { type: 'lockGranted', id: 0, fence: 3 }, { type: 'lockGranted', id: -1 }]
const wanting: TaskEvent[] = [h.started, { type: 'lockRequested', id: 1, name: 'm', until: null }]
const holding: TaskEvent[] = [...wanting, { type: 'lockGranted', id: 1, fence: 4 }]
const lost: TaskEvent[] = [...holding, h.closing(false), h.stopped('cancelled'), { type: 'reset', step: null }]
const reclaimed: TaskEvent[] = [...lost, { type: 'paused', reason: 'lock' }]
const after: TaskEvent = {
  ...h.submitted,
  after: [
    { task: 'x', on: 'success' },
    { task: 'y', on: 'end' },
  ],
}
const ended = (task: string, result: 'success' | 'error' | 'warning' | null): TaskEvent => ({
  type: 'predecessorStopped',
  task,
  result,
})
const lock = (step: number, more = {}): Message => ({ type: 'lock', step, name: 'm', outcome: 'granted', ...more })
const frozen: TaskEvent = { ...h.submitted, frozen: true }
const parent = { task: 'p', step: 1 }

const table: [what: string, history: readonly TaskEvent[], circumstances: Circumstances, does: string[]][] = [
  ['has keys', [keyed], {}, ['locksRequested', 'locks 0 k queue', 'locks -1 l reject']],
  ['has asked for its keys', asked, {}, []],
  ['has one of its keys', asked, { mail: [lock(0)] }, ['lockGranted 0']],
  [
    'has the last of its keys',
    [...asked, { type: 'lockGranted', id: 0 }],
    { mail: [lock(-1, { fence: 5 })] },
    ['lockGranted -1 fence=5', 'started', 'begins'],
  ],
  [
    'is refused a key',
    asked,
    { mail: [lock(-1, { outcome: 'held', by: ['x', 'y'] })] },
    [
      'lockRefused -1 error=(LOCK_HELD: lock "l" is held by task "x", "y" {lock="l" by=["x", "y"]})',
      'stopped result="error" error=(LOCK_HELD: lock "l" is held by task "x", "y" {lock="l" by=["x", "y"]})',
    ],
  ],
  [
    'would wait for itself with a key',
    asked,
    { mail: [lock(0, { outcome: 'deadlock', by: ['x'] })] },
    [
      'lockRefused 0 error=(LOCK_DEADLOCK: to wait for lock "k" would be to wait for itself, through task "x" {lock="k" by=["x"]})',
      'stopped result="error" error=(LOCK_DEADLOCK: to wait for lock "k" would be to wait for itself, through task "x" {lock="k" by=["x"]})',
    ],
  ],
  [
    'is refused a key that it does not wait for',
    granted,
    { mail: [lock(-1, { outcome: 'held', by: ['x'] })] },
    ['started', 'begins', 'stale 1'],
  ],
  ['was paused for a lock that a rewind made void', [h.started, { type: 'paused', reason: 'lock' }], {}, ['resumed']],
  [
    'lost its keys before it began',
    [...granted, h.closing(false), h.stopped('cancelled'), { type: 'reset', step: null }],
    {},
    ['locksRequested', 'locks 0 k queue', 'locks -1 l reject'],
  ],
  [
    'stops before it has its keys',
    asked,
    { mail: [{ type: 'cancel', force: false, compensate: null }] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled)',
    ],
  ],
  [
    'has keys and asks for a lock',
    [...granted, h.started],
    { code: [{ type: 'lockRequested', id: 1, name: 'm', until: 1_090 }] },
    ['lockRequested 1 name="m" until=+30', 'locks 1 m queue', 'wakes +30'],
  ],
  [
    'waits for a lock',
    [h.started, { type: 'lockRequested', id: 1, name: 'm', until: 1_040 }],
    { after: 5 },
    ['wakes +5'],
  ],
  [
    'waits for a lock, and is paused',
    [h.started, { type: 'lockRequested', id: 1, name: 'm', until: 9_000 }, { type: 'paused', reason: 'operator' }],
    {},
    [],
  ],
  [
    'waits too long for a lock',
    [h.started, { type: 'lockRequested', id: 1, name: 'm', until: 1_040 }],
    {},
    ['lockRefused 1 error=(LOCK_TIMEOUT: lock "m" could not be had in time {lock="m"})', 'tells 1: lock', 'unlocks 1'],
  ],
  [
    'waits too long for a lock after another',
    [
      ...holding,
      { type: 'lockRequested', id: 2, name: 'm', until: 1_060 },
      { type: 'lockRequested', id: 3, name: 'n', until: null },
      { type: 'lockRequested', id: 4, name: 'o', until: 1_070 },
    ],
    {},
    [
      'lockRefused 2 error=(LOCK_TIMEOUT: lock "m" could not be had in time {lock="m"})',
      'lockRefused 4 error=(LOCK_TIMEOUT: lock "o" could not be had in time {lock="o"})',
      'tells 2: lock',
      'tells 4: lock',
      'unlocks 2',
      'unlocks 4',
    ],
  ],
  [
    'has a lock for longer than it would have waited',
    [h.started, { type: 'lockRequested', id: 1, name: 'm', until: 1_040 }, { type: 'lockGranted', id: 1 }],
    {},
    [],
  ],
  ['is granted a lock', wanting, { mail: [lock(1, { fence: 9 })] }, ['lockGranted 1 fence=9', 'tells 1: 9']],
  ['is granted a lock without a number', wanting, { mail: [lock(1)] }, ['lockGranted 1', 'tells 1: null']],
  ['is granted a lock twice', holding, { mail: [lock(1)] }, ['stale 1']],
  ['is granted a lock that it does not know', wanting, { mail: [lock(2)] }, ['unlocks 2', 'stale 1']],
  [
    'is refused a lock',
    wanting,
    { mail: [lock(1, { outcome: 'held', by: ['x'] })] },
    ['lockRefused 1 error=(LOCK_HELD: lock "m" is held by task "x" {lock="m" by=["x"]})', 'tells 1: lock', 'unlocks 1'],
  ],
  [
    'would wait for itself',
    wanting,
    { mail: [lock(1, { outcome: 'deadlock', by: ['x'] })] },
    [
      'lockRefused 1 error=(LOCK_DEADLOCK: to wait for lock "m" would be to wait for itself, through task "x" {lock="m" by=["x"]})',
      'tells 1: lock',
      'unlocks 1',
    ],
  ],
  [
    'would have its parent wait for itself',
    wanting,
    { mail: [lock(1, { outcome: 'deadlock', by: ['x'], parent: 'p' })] },
    [
      'lockRefused 1 error=(LOCK_DEADLOCK: to wait for lock "m", which task "x" has or is to have first, would be to wait for task "p", which waits for the end of this one {lock="m" by=["x"] parent="p"})',
      'tells 1: lock',
      'unlocks 1',
    ],
  ],
  [
    'is refused a lock of its plan',
    [...h.plan([{ action: null, lock: 'm' }]), { type: 'lockRequested', id: 1, name: 'm', until: null }],
    { has: 'plan', mail: [lock(1, { outcome: 'deadlock', by: ['x'] })] },
    [
      'lockRefused 1 error=(LOCK_DEADLOCK: to wait for lock "m" would be to wait for itself, through task "x" {lock="m" by=["x"]})',
      'threw error=(LOCK_DEADLOCK: to wait for lock "m" would be to wait for itself, through task "x" {lock="m" by=["x"]}) rescue="compensate"',
      'stopped result="error" error=(LOCK_DEADLOCK: to wait for lock "m" would be to wait for itself, through task "x" {lock="m" by=["x"]})',
    ],
  ],
  ['gives a lock back', holding, { code: [{ type: 'lockReleased', lock: 1 }] }, ['lockReleased lock=1', 'unlocks 1']],
  [
    'gives a lock back that it just asked for',
    [h.started],
    {
      code: [
        { type: 'lockRequested', id: 1, name: 'm', until: null },
        { type: 'lockReleased', lock: 1 },
      ],
    },
    ['lockRequested 1 name="m" until=null', 'lockReleased lock=1', 'unlocks 1'],
  ],
  [
    'asks for two locks and gives one back',
    [h.started],
    {
      code: [
        { type: 'lockRequested', id: 1, name: 'm', until: null },
        { type: 'lockRequested', id: 2, name: 'n', until: null },
        { type: 'lockReleased', lock: 2 },
      ],
    },
    [
      'lockRequested 1 name="m" until=null',
      'lockRequested 2 name="n" until=null',
      'lockReleased lock=2',
      'locks 1 m queue',
      'unlocks 2',
    ],
  ],
  [
    'waits for a lock no more',
    wanting,
    { code: [{ type: 'waitCancelled', id: 1, lock: true }] },
    ['waitCancelled 1 lock=true', 'unlocks 1'],
  ],
  [
    'waits for an event no more',
    [h.started, { type: 'waitStarted', id: 1, name: 'e', until: null }],
    { code: [{ type: 'waitCancelled', id: 1 }] },
    ['waitCancelled 1'],
  ],
  [
    'gives back an event that another wait is for',
    [
      h.started,
      { type: 'waitStarted', id: 1, name: 'e', until: null },
      { type: 'signalReceived', name: 'e', payload: 1 },
      { type: 'waitStarted', id: 2, name: 'e', until: null },
    ],
    { code: [{ type: 'waitCancelled', id: 1, signal: { name: 'e', payload: 1 } }] },
    ['waitCancelled 1 signal={name="e" payload=1}', 'tells 2: 1'],
  ],
  [
    'asks for a lock and returns',
    [h.started],
    {
      code: [
        { type: 'lockRequested', id: 1, name: 'm', until: null },
        { type: 'returned', output: 1 },
      ],
    },
    ['lockRequested 1 name="m" until=null', 'returned output=1', 'stopped result="success" output=1'],
  ],
  [
    'has locks and stops',
    holding,
    {
      code: [
        { type: 'lockReleased', lock: 1 },
        { type: 'returned', output: 1 },
      ],
    },
    ['lockReleased lock=1', 'returned output=1', 'stopped result="success" output=1'],
  ],
  [
    'asks for a lock and a parent waits for it',
    [{ ...h.submitted, parent: { ...parent, awaits: true, above: ['q'] } }, h.started],
    { code: [{ type: 'lockRequested', id: 1, name: 'm', until: null }] },
    ['lockRequested 1 name="m" until=null', 'locks 1 m queue below p,q'],
  ],
  [
    'asks for a lock as one of a batch',
    [{ ...h.submitted, parent: { ...parent, ordinal: 0 } }, h.started],
    { code: [{ type: 'lockRequested', id: 1, name: 'm', until: null }] },
    ['lockRequested 1 name="m" until=null', 'locks 1 m queue below p'],
  ],
  [
    'asks for a lock and its parent does not wait',
    [{ ...h.submitted, parent }, h.started],
    { code: [{ type: 'lockRequested', id: 1, name: 'm', until: null }] },
    ['lockRequested 1 name="m" until=null', 'locks 1 m queue'],
  ],
  ['goes on after it lost its locks', lost, {}, ['paused reason="lock"', 'locks 1 m queue']],
  ['goes on after it lost its locks, and is paused', [...lost, { type: 'paused', reason: 'operator' }], {}, []],
  ['has its locks again', reclaimed, { mail: [lock(1, { fence: 6 })] }, ['lockGranted 1 fence=6', 'resumed']],
  [
    'has its locks again, and its code was broken',
    [
      ...holding,
      h.closing(false),
      h.stopped('cancelled'),
      { type: 'reset', step: null },
      { type: 'paused', reason: 'error', error: h.error },
      { type: 'paused', reason: 'lock' },
    ],
    { mail: [lock(1)] },
    ['lockGranted 1', 'resumed', 'reloads'],
  ],
  [
    'is refused a lock that it had',
    reclaimed,
    { mail: [lock(1, { outcome: 'held', by: ['x'] })] },
    [
      'lockRefused 1 error=(LOCK_HELD: lock "m" is held by task "x" {lock="m" by=["x"]})',
      'alerts lock : lock "m" is held by task "x"',
      'unlocks 1',
    ],
  ],
  ['stopped with locks', [...holding, h.stopped('success')], { mail: [lock(1)] }, ['stale 1']],
  ['comes after others', [after], {}, []],
  [
    'comes after others one of which ended well',
    [after],
    { mail: [{ type: 'antecedent', task: 'x', result: 'success' }] },
    ['predecessorStopped task="x" result="success"'],
  ],
  [
    'comes after others that ended',
    [after, ended('x', 'warning')],
    { mail: [{ type: 'antecedent', task: 'y', result: 'error' }] },
    ['predecessorStopped task="y" result="error"', 'started', 'begins'],
  ],
  [
    'comes after one that failed',
    [after],
    { mail: [{ type: 'antecedent', task: 'x', result: 'error' }] },
    [
      'predecessorStopped task="x" result="error"',
      'stopped result="error" error=(PREDECESSOR_FAILED: task "x", which this one comes after, ended as error {task="x" result="error"})',
    ],
  ],
  [
    'comes after one that nobody knows',
    [after],
    { mail: [{ type: 'antecedent', task: 'x', result: null }] },
    [
      'predecessorStopped task="x" result=null',
      'stopped result="error" error=(PREDECESSOR_FAILED: task "x", which this one comes after, is not known (any more) {task="x" result="unknown"})',
    ],
  ],
  [
    'comes after one whose end nobody knows',
    [after, ended('x', 'success')],
    { mail: [{ type: 'antecedent', task: 'y', result: null }] },
    ['predecessorStopped task="y" result=null', 'started', 'begins'],
  ],
  [
    'hears twice of one that it comes after',
    [after, ended('x', 'success')],
    { mail: [{ type: 'antecedent', task: 'x', result: 'error' }] },
    ['stale 1'],
  ],
  [
    'hears of one that it does not come after',
    [after],
    { mail: [{ type: 'antecedent', task: 'z', result: 'error' }] },
    ['stale 1'],
  ],
  [
    'has stopped that came after others',
    [after, h.closing(false), h.stopped('cancelled')],
    { mail: [{ type: 'antecedent', task: 'x', result: 'error' }] },
    ['stale 1'],
  ],
  ['comes after others and is to begin later', [{ ...after, startAt: 9_000 } as TaskEvent], {}, []],
  ['is frozen', [frozen], {}, []],
  ['is frozen and to begin later', [{ ...frozen, startAt: 9_000 } as TaskEvent], {}, []],
  ['is thawed', [frozen], { mail: [{ type: 'thaw', outside: true }] }, ['thawed', 'started', 'begins']],
  [
    'is thawed to begin later',
    [frozen],
    { mail: [{ type: 'thaw', startAt: 1_050 }] },
    ['thawed startAt=+30', 'wakes +30'],
  ],
  [
    'is thawed twice',
    [frozen, { type: 'thawed' }],
    { mail: [{ type: 'thaw', outside: true }] },
    ['messageIgnored message="thaw" reason="the task is not frozen"', 'started', 'begins'],
  ],
  [
    'is thawed after it was paused',
    [frozen, { type: 'paused', reason: 'operator' }],
    { mail: [{ type: 'thaw', outside: true }] },
    ['messageIgnored message="thaw" reason="the task is not frozen"'],
  ],
  [
    'has keys asked for and is to begin later',
    [{ ...keyed, startAt: 9_000 } as TaskEvent, { type: 'locksRequested' }],
    {},
    [],
  ],
  ['has keys and is to begin later', [{ ...keyed, startAt: 9_000 } as TaskEvent], {}, ['wakes +7980']],
  ['has keys and waits for another', [{ ...after, exclusive } as TaskEvent], {}, []],
  [
    'is planned and waits for keys',
    [keyed, ...h.plan([{ action: 'a.b' }]).slice(0, 2)],
    { has: 'plan' },
    ['locksRequested', 'locks 0 k queue', 'locks -1 l reject'],
  ],
  ['is frozen, and planned', [frozen, ...h.plan([{ action: 'a.b' }]).slice(0, 2)], { has: 'plan' }, []],
  [
    'is thawed, and planned',
    [frozen, ...h.plan([{ action: 'a.b' }]).slice(0, 2)],
    { has: 'plan', mail: [{ type: 'thaw', startAt: 1_050 }] },
    ['thawed startAt=+10', 'wakes +10'],
  ],
  [
    'is refused a key while it is paused',
    [...asked, { type: 'paused', reason: 'operator' }],
    { mail: [lock(-1, { outcome: 'held', by: ['x'] })] },
    [
      'lockRefused -1 error=(LOCK_HELD: lock "l" is held by task "x" {lock="l" by=["x"]})',
      'stopped result="error" error=(LOCK_HELD: lock "l" is held by task "x" {lock="l" by=["x"]})',
    ],
  ],
  [
    'is refused a key of its plan',
    [keyed, ...h.plan([{ action: 'a.b' }]).slice(0, 2), { type: 'locksRequested' }],
    { has: 'plan', mail: [lock(0, { outcome: 'held', by: ['x'] })] },
    [
      'lockRefused 0 error=(LOCK_HELD: lock "k" is held by task "x" {lock="k" by=["x"]})',
      'stopped result="error" error=(LOCK_HELD: lock "k" is held by task "x" {lock="k" by=["x"]})',
    ],
  ],
  [
    'gives back an event that nobody waits for',
    [
      h.started,
      { type: 'waitStarted', id: 1, name: 'e', until: null },
      { type: 'signalReceived', name: 'e', payload: 1 },
    ],
    { code: [{ type: 'waitCancelled', id: 1, signal: { name: 'e', payload: 1 } }] },
    ['waitCancelled 1 signal={name="e" payload=1}'],
  ],
  [
    'holds a step while it waits for its locks',
    [
      ...holding,
      h.requested(2, { semantics: 'at-most-once' }),
      h.stopped('cancelled'),
      { type: 'reset', step: null },
      { type: 'paused', reason: 'lock' },
    ],
    { fresh: true, mail: [{ type: 'takeover', step: 2 }] },
    [
      'attemptFailed 2 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=2',
      'paused reason="unknown-outcome" step=2 error=(STEP_UNKNOWN_OUTCOME: nobody knows whether step 2 (b) took effect: the process that ran the attempt died < (STEP_LOST: the process that ran the attempt died))',
      'alerts unknown-outcome 2: nobody knows whether step 2 (b) took effect: the process that ran the attempt died',
    ],
  ],
]

it.each(table)('when a task %s, this comes of it', (_, history, circumstances, does) => {
  expect(turned(history, circumstances)).toEqual(does)
})
