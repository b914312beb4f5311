import { expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import * as h from './history.ts'
import { type Circumstances, turned } from './turned.ts'

const running: TaskEvent[] = [h.started, h.requested(1)]
const alarms = [
  { at: 1_060, name: 'x', payload: 1 },
  { at: 1_050, name: 'y', payload: 2 },
]
const waits = (more: object, policy = {}): TaskEvent[] => [
  h.started,
  h.requested(1, policy),
  { type: 'stepSuspended', id: 1, ...h.trace, ...more },
]
const paused: TaskEvent = { type: 'paused', reason: 'operator' }
const hook = { on: ['running', 'paused', 'success', 'stopped'], workflow: 'k', version: '1' }

const only = { first: 1, steps: [{ action: 'a.b' }], policies: [], groups: [], output: null }

const table: [what: string, history: readonly TaskEvent[], circumstances: Circumstances, does: string[]][] = [
  ['is submitted', [], {}, ['started', 'begins']],
  ['is submitted where nobody has its code', [], { has: 'none' }, []],
  ['is submitted that is to be planned', [], { has: 'plan' }, ['planning', 'begins']],
  [
    'has its plan',
    h.plan([{ action: 'a.b' }]).slice(0, 2),
    { has: 'plan' },
    ['started', 'stepRequested 1 action="a.b" name="b" input=null policy={}', 'begins', 'starts 1 run 1', 'wakes +0'],
  ],
  [
    'has its plan where nobody has its code',
    h.plan([{ action: 'a.b' }]).slice(0, 2),
    { has: 'none' },
    ['started', 'begins'],
  ],
  ['has a limit from its beginning', [], { runWithin: 50 }, ['started completeBy=1070', 'begins', 'wakes +50']],
  [
    'has a limit from its beginning, and is to be done before',
    [{ ...h.submitted, completeBy: 1_040 }],
    { runWithin: 50 },
    ['started completeBy=1040', 'begins', 'wakes +20'],
  ],
  [
    'has a limit from its beginning, and is to be done after it',
    [{ ...h.submitted, completeBy: 1_090 }],
    { runWithin: 50 },
    ['started completeBy=1070', 'begins', 'wakes +50'],
  ],
  ['has a limit from its beginning, and is to be planned', [], { has: 'plan', runWithin: 50 }, ['planning', 'begins']],
  [
    'has a plan with a limit, where nobody has its code',
    [{ type: 'planning' }, { type: 'planned', plan: { ...only, runWithin: 50 } }],
    { has: 'none', runWithin: 9 },
    ['started completeBy=1090', 'begins', 'wakes +50'],
  ],
  ['is to begin later', [{ ...h.submitted, startAt: 1_050 }], {}, ['wakes +30']],
  ['is to begin now', [{ ...h.submitted, startAt: 1_020 }], {}, ['started', 'begins']],
  ['is to begin in this instant', [{ ...h.submitted, startAt: 1_010 }], { after: 0 }, ['started', 'begins']],
  [
    'could have begun',
    [{ ...h.submitted, startBefore: 1_019 }],
    {},
    ['stopped result="error" error=(TASK_EXPIRED: the task did not start before its start-before)'],
  ],
  ['can just begin', [{ ...h.submitted, startBefore: 1_020 }], {}, ['started', 'begins']],
  ['must begin before long', [{ ...h.submitted, startBefore: 1_040 }], { has: 'none' }, ['wakes +21']],
  ['is to begin later and before long', [{ ...h.submitted, startAt: 1_050, startBefore: 1_040 }], {}, ['wakes +21']],
  ['began in time', [{ ...h.submitted, startBefore: 1_019 }, h.started], {}, []],
  [
    'is cancelled before it began',
    [],
    { mail: [{ type: 'cancel', force: false, compensate: null }] },
    [
      'closing cause="cancel" compensate=true error=(TASK_CANCELLED: cancelled)',
      'stopped result="cancelled" error=(TASK_CANCELLED: cancelled)',
    ],
  ],
  [
    'is retried before its code began',
    [h.closing(false), h.stopped('cancelled')],
    { mail: [{ type: 'retry' }] },
    ['reset step=null', 'reloads'],
  ],
  [
    'has timers that are due',
    [
      h.started,
      { type: 'timerStarted', id: 1, until: 1_039 },
      { type: 'timerStarted', id: 2, until: 1_030 },
      { type: 'timerStarted', id: 3, until: 1_051 },
    ],
    {},
    ['timerFired 2', 'timerFired 1', 'timerFired 3', 'tells 2: null', 'tells 1: null', 'tells 3: null'],
  ],
  [
    'has timers of one instant',
    [h.started, { type: 'timerStarted', id: 2, until: 1_040 }, { type: 'timerStarted', id: 1, until: 1_040 }],
    {},
    ['timerFired 1', 'timerFired 2', 'tells 1: null', 'tells 2: null'],
  ],
  ['has a timer that is not due', [h.started, { type: 'timerStarted', id: 1, until: 1_041 }], {}, ['wakes +1']],
  [
    'has a wait that is over',
    [h.started, { type: 'waitStarted', id: 1, name: 'e', until: 1_040 }],
    {},
    ['waitTimedOut 1', 'tells 1: timeout'],
  ],
  [
    'has a wait that is not over',
    [h.started, { type: 'waitStarted', id: 1, name: 'e', until: 1_041 }],
    {},
    ['wakes +1'],
  ],
  ['has a wait without an end', [h.started, { type: 'waitStarted', id: 1, name: 'e', until: null }], {}, []],
  [
    'has a wait and a timer that are over',
    [h.started, { type: 'timerStarted', id: 1, until: 1_045 }, { type: 'waitStarted', id: 2, name: 'e', until: 1_040 }],
    {},
    ['waitTimedOut 2', 'timerFired 1', 'tells 2: timeout', 'tells 1: null'],
  ],
  [
    'is paused and has timers',
    [
      h.started,
      { type: 'timerStarted', id: 1, until: 9_000 },
      { type: 'waitStarted', id: 2, name: 'e', until: 9_000 },
      paused,
    ],
    {},
    [],
  ],
  [
    'is paused and has timers that are due',
    [h.started, { type: 'timerStarted', id: 1, until: 1_000 }, paused],
    {},
    ['timerFired 1'],
  ],
  [
    'ends and has timers',
    [...running, { type: 'timerStarted', id: 2, until: 1_000 }, h.closing(false)],
    {},
    ['aborts 1'],
  ],
  ['must be done before long', [{ ...h.submitted, completeBy: 1_040 }, h.started], {}, ['wakes +10']],
  [
    'must be done before long, and has not begun',
    [{ ...h.submitted, completeBy: 1_040, startBefore: 1_060, startAt: 1_050 }],
    {},
    ['wakes +20'],
  ],
  [
    'must be done before long, and ends',
    [{ ...h.submitted, completeBy: 1_060 }, ...running, h.closing(false)],
    {},
    ['aborts 1'],
  ],
  [
    'has a step that is to be tried again',
    [...running, h.failedAttempt(1, { next: { operation: 'run', at: 1_060 } })],
    {},
    ['wakes +10'],
  ],
  [
    'has a step that is to be tried now',
    [...running, h.failedAttempt(1, { next: { operation: 'run', at: 1_051 } })],
    { after: 11 },
    ['starts 1 run 2', 'wakes +0'],
  ],
  [
    'has a step that is to be tried again, and is paused',
    [...running, h.failedAttempt(1, { next: { operation: 'run', at: 1_060 } }), paused],
    {},
    [],
  ],
  [
    'has a step that is to be tried and is not paused any more',
    [
      ...running,
      h.failedAttempt(1),
      { type: 'paused', reason: 'step', step: 1, error: h.error },
      h.requested(2),
      { type: 'stepRetried', id: 1, at: 1_070 },
    ],
    { fresh: true },
    ['starts 1 run 2', 'wakes -10'],
  ],
  ['has a step that waits until an instant', waits({ until: 1_060 }), {}, ['wakes +10']],
  [
    'has a step that waited until now',
    waits({ until: 1_050 }),
    {},
    ['stepSignalled 1 name="timeout" payload=null', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'has a step that waits for alarms',
    waits({ selfSignals: alarms.map((alarm) => ({ ...alarm, at: alarm.at + 100 })) }),
    {},
    ['wakes +100'],
  ],
  [
    'has a step whose alarms ring',
    waits({ selfSignals: alarms }),
    { after: 20 },
    [
      'stepSignalled 1 name="y" payload=2 selfSignalAt=-10',
      'stepSignalled 1 name="x" payload=1 selfSignalAt=+0',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'has a step one of whose alarms rings',
    waits({ selfSignals: alarms }),
    {},
    ['stepSignalled 1 name="y" payload=2 selfSignalAt=+0', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'has a step with an alarm and an end at once',
    waits({ until: 1_055, selfSignals: alarms }),
    { after: 20 },
    [
      'stepSignalled 1 name="y" payload=2 selfSignalAt=-10',
      'stepSignalled 1 name="x" payload=1 selfSignalAt=+0',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'has steps whose alarms ring at once',
    [
      h.started,
      h.requested(2),
      h.requested(1),
      { type: 'stepSuspended', id: 2, ...h.trace, selfSignals: alarms.slice(1) },
      { type: 'stepSuspended', id: 1, ...h.trace, selfSignals: alarms.slice(1) },
    ],
    {},
    [
      'stepSignalled 1 name="y" payload=2 selfSignalAt=-20',
      'stepSignalled 2 name="y" payload=2 selfSignalAt=-20',
      'starts 2 run 2',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'has a step that waits past its own time',
    waits({}, { expiresIn: 20 }),
    {},
    [
      'attemptFailed 1 operation="run" error=(STEP_TIMEOUT: the step was not done by its complete-by) unknown=true attempt=1',
      'stepFailed 1 error=(STEP_TIMEOUT: the step was not done by its complete-by)',
      'tells 1: step',
    ],
  ],
  [
    'has a step that waits past its own time and can be verified',
    waits({}, { expiresIn: 20, verify: true }),
    {},
    [
      'attemptFailed 1 operation="run" error=(STEP_TIMEOUT: the step was not done by its complete-by) unknown=true attempt=1 next={operation="verify" at=+10}',
      'wakes +10',
    ],
  ],
  ['has a step that waits up to its own time', waits({}, { expiresIn: 31 }), {}, ['wakes +11']],
  [
    'has a step that waits until its own time',
    waits({ until: 1_050 }, { expiresIn: 20 }),
    {},
    ['stepSignalled 1 name="timeout" payload=null', 'starts 1 run 2', 'wakes +0'],
  ],
  ['has a step that is busy past its own time', [h.started, h.requested(1, { expiresIn: 20 })], {}, []],
  ['has a step that waits, and is paused', [...waits({ until: 9_000 }), paused], {}, []],
  [
    'has a step that waits, and ends',
    [...waits({ until: 9_000 }), h.closing(false)],
    {},
    [
      'stepCancelled 1',
      'stopped result="cancelled"',
      'alerts unknown-outcome 1: step 1 (b) was given up, and nobody knows whether it took effect',
    ],
  ],
  [
    'has an alarm of a step that is busy',
    [
      ...waits({ selfSignals: [{ at: 1_070, name: 'x', payload: 1 }] }),
      { type: 'stepSignalled', id: 1, name: 'z', payload: 2 },
    ],
    {},
    ['wakes +10'],
  ],
  [
    'has an alarm that rings for a step that is busy',
    [
      ...waits({ selfSignals: [{ at: 1_050, name: 'x', payload: 1 }] }),
      { type: 'stepSignalled', id: 1, name: 'z', payload: 2 },
    ],
    {},
    ['stepSignalled 1 name="x" payload=1 selfSignalAt=-10'],
  ],
  [
    'begins and has hooks',
    [{ ...h.submitted, hooks: [hook] }],
    {},
    [
      'started',
      'begins',
      'hooks t~running.1020-0-2-0 k task="t" workflow="w" from="pending" to="running" outcome="pending" at=+0',
    ],
  ],
  [
    'fails and has hooks',
    [{ ...h.submitted, hooks: [{ ...hook, on: ['error'] }, hook] }, h.started],
    { code: [{ type: 'threw', error: h.error, rescue: 'fail' }] },
    [
      'threw error=(Error: no) rescue="fail"',
      'stopped result="error" error=(Error: no)',
      'hooks t~stopped.1030-0-4-0 k task="t" workflow="w" from="running" to="stopped" outcome="error" at=+0 error=(Error: no)',
      'hooks t~stopped.1030-0-4-1 k task="t" workflow="w" from="running" to="stopped" outcome="error" at=+0 error=(Error: no)',
    ],
  ],
  [
    'is paused and has hooks',
    [{ ...h.submitted, hooks: [hook, { ...hook, on: ['pending'] }] }, h.started],
    { mail: [{ type: 'pause' }] },
    [
      'paused reason="operator"',
      'hooks t~paused.1030-0-3-0 k task="t" workflow="w" from="running" to="paused" outcome="pending" at=+0',
    ],
  ],
  [
    'has hooks and an earlier error',
    [{ ...h.submitted, hooks: [hook] }, h.started, h.stopped('error', { error: h.error })],
    { mail: [{ type: 'retry' }] },
    [
      'reset step=null',
      'hooks t~running.1040-1-4-0 k task="t" workflow="w" from="stopped" to="running" outcome="pending" at=+0',
      'reloads',
    ],
  ],
  ['has nothing to move it and hooks', [{ ...h.submitted, hooks: [hook] }, ...running], {}, []],
  [
    'goes on and fails and has hooks',
    [{ ...h.submitted, hooks: [hook, { ...hook, on: ['error'] }] }, h.started, paused],
    { mail: [{ type: 'resume' }], code: [{ type: 'threw', error: h.error, rescue: 'fail' }] },
    [
      'resumed',
      'threw error=(Error: no) rescue="fail"',
      'stopped result="error" error=(Error: no)',
      'hooks t~running.1040-0-4-0 k task="t" workflow="w" from="paused" to="running" outcome="error" at=+0',
      'hooks t~stopped.1040-0-6-0 k task="t" workflow="w" from="running" to="stopped" outcome="error" at=+0 error=(Error: no)',
      'hooks t~stopped.1040-0-6-1 k task="t" workflow="w" from="running" to="stopped" outcome="error" at=+0 error=(Error: no)',
    ],
  ],
  [
    'is past its time and paused',
    [{ ...h.submitted, completeBy: 1_030 }, h.started, paused],
    {},
    [
      'closing cause="deadline" compensate=true error=(TASK_DEADLINE: the task was not done by its complete-by)',
      'stopped result="error" error=(TASK_DEADLINE: the task was not done by its complete-by)',
    ],
  ],
  ['has registered an undo', [h.started, { type: 'undoRegistered', id: 1, name: 'u' }], {}, []],
  [
    'has a timer that is due in this instant',
    [h.started, { type: 'timerStarted', id: 1, until: 1_040 }],
    {},
    ['timerFired 1', 'tells 1: null'],
  ],
]

it.each(table)('when a task %s, this comes of it', (_, history, circumstances, does) => {
  expect(turned(history, circumstances)).toEqual(does)
})
