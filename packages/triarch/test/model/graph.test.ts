import { expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Message } from '../../src/kernel/message.ts'
import { FINALIZE } from '../../src/kernel/plan/plan.ts'
import * as h from './history.ts'
import { type Circumstances, turned } from './turned.ts'

const step = { action: 'a.b' }
const after = (...after: number[]) => ({ ...step, after })
const of = (id: number, ...path: string[]) => ({ $ref: ['output', id, ...path] })
const requested = (id: number, more = {}): TaskEvent => ({ ...h.requested(id, more) })
const diamond = h.plan([step, after(1), after(1), { action: null, after: [2, 3] }, after(4)])
const rescued = (rescue: 'skip' | 'pause' | 'fail' | 'compensate', more = {}): TaskEvent[] => [
  ...h.plan([step, after(1), step]),
  requested(1, { rescue, ...more }),
  requested(3),
]
const fails: Message = h.reply(1, h.failed({ retryable: false }))
const parked: TaskEvent[] = [
  ...rescued('pause'),
  h.failedAttempt(1),
  { type: 'plannedStepFailed', id: 1, error: h.error },
]
const failed: TaskEvent[] = [
  ...rescued('fail'),
  h.failedAttempt(1),
  { type: 'plannedStepFailed', id: 1, error: h.error },
]
const finalized = h.plan([step, step, { ...step, finalizes: 1 }, { ...step, finalizes: 2 }])
const phase = h.plan([
  { ...step, input: 1 },
  { ...step, input: 2 },
  { action: FINALIZE, finalizes: [1, 2] },
])
const back: TaskEvent[] = [
  ...diamond,
  ...[1, 2, 3, 5].flatMap((id) => [requested(id), h.completed(id)]),
  h.stopped('success', { output: null }),
  h.closing(true, { cause: 'operator' }),
]
const undone = (id: number): TaskEvent => ({ type: 'undone', id, ...h.trace })

const table: [what: string, history: readonly TaskEvent[], circumstances: Circumstances, does: string[]][] = [
  ['is empty', h.plan([]), {}, ['returned output=null', 'stopped result="success" output=null']],
  ['begins', diamond, {}, ['stepRequested 1 action="a.b" name="b" input=null policy={}', 'starts 1 run 1', 'wakes +0']],
  [
    'forks',
    [...diamond, requested(1)],
    { mail: [h.reply(1, h.done)] },
    [
      'stepCompleted 1 output=7 attempt=1',
      'stepRequested 2 action="a.b" name="b" input=null policy={}',
      'stepRequested 3 action="a.b" name="b" input=null policy={}',
      'starts 2 run 1',
      'starts 3 run 1',
      'wakes +0',
    ],
  ],
  [
    'is half way to a join',
    [...diamond, requested(1), h.completed(1), requested(2), requested(3)],
    { mail: [h.reply(2, h.done)] },
    ['stepCompleted 2 output=7 attempt=1'],
  ],
  [
    'reaches a join',
    [...diamond, requested(1), h.completed(1), requested(2), requested(3), h.completed(2)],
    { mail: [h.reply(3, h.done)] },
    [
      'stepCompleted 3 output=7 attempt=1',
      'stepRequested 5 action="a.b" name="b" input=null policy={}',
      'starts 5 run 1',
      'wakes +0',
    ],
  ],
  [
    'is done',
    [...diamond, ...[1, 2, 3].flatMap((id) => [requested(id), h.completed(id)]), requested(5)],
    { mail: [h.reply(5, h.done)] },
    ['stepCompleted 5 output=7 attempt=1', 'returned output=null', 'stopped result="success" output=null'],
  ],
  ['is paused', [...diamond, { type: 'paused', reason: 'operator' }], {}, []],
  ['ends already', [...diamond, h.closing(false)], {}, ['stopped result="cancelled"']],
  [
    'is wide',
    h.plan([step, step, step]),
    { limits: { fanOut: 2 } },
    [
      'stepRequested 1 action="a.b" name="b" input=null policy={}',
      'stepRequested 2 action="a.b" name="b" input=null policy={}',
      'starts 1 run 1',
      'starts 2 run 1',
      'wakes +0',
    ],
  ],
  [
    'is just as wide as it may',
    h.plan([step, step, step]),
    { limits: { fanOut: 3 } },
    [
      'stepRequested 1 action="a.b" name="b" input=null policy={}',
      'stepRequested 2 action="a.b" name="b" input=null policy={}',
      'stepRequested 3 action="a.b" name="b" input=null policy={}',
      'starts 1 run 1',
      'starts 2 run 1',
      'starts 3 run 1',
      'wakes +0',
    ],
  ],
  [
    'is wide and a step is parked',
    [
      ...h.plan([step, step, step]),
      requested(1, { rescue: 'fail' }),
      { type: 'plannedStepFailed', id: 1, error: h.error },
    ],
    { limits: { fanOut: 2 } },
    [
      'stepRequested 2 action="a.b" name="b" input=null policy={}',
      'stepRequested 3 action="a.b" name="b" input=null policy={}',
      'starts 2 run 1',
      'starts 3 run 1',
      'wakes +0',
    ],
  ],
  [
    'has policies and names',
    h.plan([{ ...step, name: 'n', policy: 1 }], { policies: [{}, { priority: 3 }] }),
    {},
    ['stepRequested 1 action="a.b" name="n" input=null policy={priority=3}', 'starts 1 run 1', 'wakes +0'],
  ],
  [
    'refers to outputs',
    [...h.plan([step, { ...step, input: { got: of(1) } }], { output: of(2) }), requested(1)],
    { mail: [h.reply(1, { kind: 'done', output: { x: 1 } })] },
    [
      'stepCompleted 1 output={x=1} attempt=1',
      'stepRequested 2 action="a.b" name="b" input={got={x=1}} policy={}',
      'starts 2 run 1',
      'wakes +0',
    ],
  ],
  [
    'gives what its steps gave',
    [...h.plan([step], { output: { a: of(1, 'x'), b: 2 } }), requested(1)],
    { mail: [h.reply(1, { kind: 'done', output: { x: 1 } })] },
    [
      'stepCompleted 1 output={x=1} attempt=1',
      'returned output={a=1 b=2}',
      'stopped result="success" output={a=1 b=2}',
    ],
  ],
  [
    'gives what its steps gave, as far as it is there',
    [
      ...h.plan([step, step], { output: { a: [of(1, 'x'), of(2)], b: null, c: 'c', d: { e: of(1) } } }),
      requested(1),
      requested(2),
      { type: 'stepSkipped', id: 1, cascade: [], by: 'rescue' },
    ],
    { mail: [h.reply(2, h.done)] },
    [
      'stepCompleted 2 output=7 attempt=1',
      'returned output={a=[null, 7] b=null c="c" d={e=null}}',
      'stopped result="warning" output={a=[null, 7] b=null c="c" d={e=null}}',
    ],
  ],
  [
    'refers to what is not there',
    [...h.plan([step, { ...step, input: of(1, 'x') }]), requested(1)],
    { mail: [h.reply(1, h.done)] },
    [
      'stepCompleted 1 output=7 attempt=1',
      'stepRequested 2 action="a.b" name="b" input=null policy={}',
      'attemptFailed 2 operation="run" error=(REFERENCE_UNRESOLVED: its input refers to the output of step 1.x, which is not there) attempt=1',
      'plannedStepFailed 2 error=(REFERENCE_UNRESOLVED: its input refers to the output of step 1.x, which is not there)',
      'threw error=(STEP_FAILED: Step 2 (a.b) failed after 1 attempt: its input refers to the output of step 1.x, which is not there < (REFERENCE_UNRESOLVED: its input refers to the output of step 1.x, which is not there) {stepId=2 action="a.b" attempts=1 rescue="compensate"}) rescue="compensate"',
      'stepCancelled 2',
      'compensating',
      'undoRequested 1 at=+0',
      'starts 1 undo 1',
      'wakes +0',
    ],
  ],
  [
    'has an input that is too large',
    h.plan([{ ...step, input: ['x'.repeat(10)] }]),
    { limits: { payload: 13 } },
    [
      'stepRequested 1 action="a.b" name="b" input=null policy={}',
      'attemptFailed 1 operation="run" error=(PAYLOAD_TOO_LARGE: its input has 14 characters as JSON; the limit is 13) attempt=1',
      'plannedStepFailed 1 error=(PAYLOAD_TOO_LARGE: its input has 14 characters as JSON; the limit is 13)',
      'threw error=(STEP_FAILED: Step 1 (a.b) failed after 1 attempt: its input has 14 characters as JSON; the limit is 13 < (PAYLOAD_TOO_LARGE: its input has 14 characters as JSON; the limit is 13) {stepId=1 action="a.b" attempts=1 rescue="compensate"}) rescue="compensate"',
      'stepCancelled 1',
      'stopped result="error" error=(STEP_FAILED: Step 1 (a.b) failed after 1 attempt: its input has 14 characters as JSON; the limit is 13 < (PAYLOAD_TOO_LARGE: its input has 14 characters as JSON; the limit is 13) {stepId=1 action="a.b" attempts=1 rescue="compensate"})',
    ],
  ],
  [
    'is wide and holds a lock',
    [
      ...h.plan([{ action: null, lock: 'm' }, after(1), after(1)]),
      { type: 'lockRequested', id: 1, name: 'm', until: null },
      { type: 'lockGranted', id: 1 },
    ],
    { limits: { fanOut: 2 } },
    [
      'stepRequested 2 action="a.b" name="b" input=null policy={}',
      'stepRequested 3 action="a.b" name="b" input=null policy={}',
      'starts 2 run 1',
      'starts 3 run 1',
      'wakes +0',
    ],
  ],
  [
    'has an input that is just not too large',
    h.plan([{ ...step, input: ['x'.repeat(10)] }]),
    { limits: { payload: 14 } },
    ['stepRequested 1 action="a.b" name="b" input=["xxxxxxxxxx"] policy={}', 'starts 1 run 1', 'wakes +0'],
  ],
  [
    'has a text for an input',
    h.plan([{ ...step, input: 'x'.repeat(10) }]),
    { limits: { payload: 5 } },
    ['stepRequested 1 action="a.b" name="b" input="xxxxxxxxxx" policy={}', 'starts 1 run 1', 'wakes +0'],
  ],
  [
    'has a step whose input was edited',
    [
      ...h.plan([{ ...step, input: 1 }]),
      requested(1, { rescue: 'fail' }),
      { type: 'plannedStepFailed', id: 1, error: h.error },
      { type: 'threw', error: h.error, rescue: 'fail' },
      h.stopped('error'),
    ],
    { mail: [{ type: 'retry', step: 1, input: 2 }] },
    ['reset step=1 input=2', 'reloads', 'wakes +0'],
  ],
  [
    'takes a lock',
    h.plan([{ action: null, lock: 'm' }, after(1)]),
    {},
    ['lockRequested 1 name="m" until=null', 'locks 1 m queue'],
  ],
  [
    'has its lock',
    [...h.plan([{ action: null, lock: 'm' }, after(1)]), { type: 'lockRequested', id: 1, name: 'm', until: null }],
    { mail: [{ type: 'lock', step: 1, name: 'm', outcome: 'granted' }] },
    ['lockGranted 1', 'stepRequested 2 action="a.b" name="b" input=null policy={}', 'starts 2 run 1', 'wakes +0'],
  ],
  [
    'gives its lock back',
    [
      ...h.plan([{ action: null, lock: 'm' }, after(1), { action: null, unlock: 1, after: [2] }]),
      { type: 'lockRequested', id: 1, name: 'm', until: null },
      { type: 'lockGranted', id: 1 },
      requested(2),
    ],
    { mail: [h.reply(2, h.done)] },
    [
      'stepCompleted 2 output=7 attempt=1',
      'lockReleased 3 lock=1',
      'returned output=null',
      'stopped result="success" output=null',
    ],
  ],
  [
    'skips a step that failed',
    rescued('skip'),
    { mail: [fails] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'stepSkipped 1 cascade=[2] by="rescue"'],
  ],
  [
    'puts an output in place of a step that failed',
    rescued('skip', { substituted: true, substitute: 9 }),
    { mail: [fails] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'stepSkipped 1 output=9 by="rescue"',
      'stepRequested 2 action="a.b" name="b" input=null policy={}',
      'starts 2 run 1',
      'wakes +0',
    ],
  ],
  [
    'has an operator look at a step that failed, once the rest is done',
    rescued('pause'),
    { mail: [fails] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'plannedStepFailed 1 error=(Error: no)',
      'alerts step 1: step 1 (b) needs an operator: no',
    ],
  ],
  [
    'has done the rest, and asks an operator',
    parked,
    { mail: [h.reply(3, h.done)] },
    ['stepCompleted 3 output=7 attempt=1', 'paused reason="step" step=1 error=(Error: no)'],
  ],
  [
    'fails by a step, once the rest is done',
    rescued('fail'),
    { mail: [fails] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'plannedStepFailed 1 error=(Error: no)'],
  ],
  [
    'has done the rest, and fails',
    failed,
    { mail: [h.reply(3, h.done)] },
    [
      'stepCompleted 3 output=7 attempt=1',
      'threw error=(STEP_FAILED: Step 1 (a.b) failed after 1 attempt: no < (Error: no) {stepId=1 action="a.b" attempts=1 rescue="fail"}) rescue="fail"',
      'stepCancelled 1',
      'stopped result="error" error=(STEP_FAILED: Step 1 (a.b) failed after 1 attempt: no < (Error: no) {stepId=1 action="a.b" attempts=1 rescue="fail"})',
    ],
  ],
  [
    'fails after more than one attempt',
    [
      ...h.plan([step]),
      requested(1, { rescue: 'fail' }),
      h.failedAttempt(1, { next: { operation: 'run', at: 1_000 } }),
    ],
    { mail: [h.reply(1, h.failed({ retryable: false }), { attempt: 2 })] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=2',
      'plannedStepFailed 1 error=(Error: no)',
      'threw error=(STEP_FAILED: Step 1 (a.b) failed after 2 attempts: no < (Error: no) {stepId=1 action="a.b" attempts=2 rescue="fail"}) rescue="fail"',
      'stepCancelled 1',
      'stopped result="error" error=(STEP_FAILED: Step 1 (a.b) failed after 2 attempts: no < (Error: no) {stepId=1 action="a.b" attempts=2 rescue="fail"})',
    ],
  ],
  [
    'is undone by a step that failed',
    rescued('compensate'),
    { mail: [fails] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'plannedStepFailed 1 error=(Error: no)',
      'threw error=(STEP_FAILED: Step 1 (a.b) failed after 1 attempt: no < (Error: no) {stepId=1 action="a.b" attempts=1 rescue="compensate"}) rescue="compensate"',
      'stepCancelled 1',
      'aborts 3',
    ],
  ],
  [
    'goes on when its parked step is retried',
    [...parked, h.completed(3), { type: 'paused', reason: 'step', step: 1, error: h.error }],
    { mail: [{ type: 'retry', step: 1 }] },
    ['stepRetried 1 at=+0', 'resumed', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'finalizes',
    [...finalized, requested(1), requested(2), h.completed(1)],
    { mail: [h.reply(2, h.done)] },
    [
      'stepCompleted 2 output=7 attempt=1',
      'stepRequested 3 action="a.b" name="b" input={input=null output=1} policy={}',
      'starts 3 run 1',
      'wakes +0',
    ],
  ],
  [
    'finalizes one after the other',
    [...finalized, requested(1), requested(2), h.completed(1), h.completed(2), requested(3)],
    { mail: [h.reply(3, h.done)] },
    [
      'stepCompleted 3 output=7 attempt=1',
      'stepRequested 4 action="a.b" name="b" input={input=null output=2} policy={}',
      'starts 4 run 1',
      'wakes +0',
    ],
  ],
  [
    'has finalized',
    [
      ...finalized,
      requested(1),
      requested(2),
      h.completed(1),
      h.completed(2),
      requested(3),
      h.completed(3),
      requested(4),
    ],
    { mail: [h.reply(4, h.done)] },
    ['stepCompleted 4 output=7 attempt=1', 'returned output=null', 'stopped result="success" output=null'],
  ],
  [
    'finalizes no step that was skipped',
    [...finalized, requested(1, { rescue: 'skip' }), requested(2), h.completed(2)],
    { mail: [fails] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'stepSkipped 1 cascade=[] by="rescue"',
      'stepRequested 4 action="a.b" name="b" input={input=null output=2} policy={}',
      'starts 4 run 1',
      'wakes +0',
    ],
  ],
  [
    'skips a step that finalizes',
    [...finalized, requested(1), requested(2), h.completed(1), h.completed(2), requested(3, { rescue: 'skip' })],
    { mail: [h.reply(3, h.failed({ retryable: false }))] },
    [
      'attemptFailed 3 operation="run" error=(Error: no) attempt=1',
      'stepSkipped 3 cascade=[] by="rescue"',
      'stepRequested 4 action="a.b" name="b" input={input=null output=2} policy={}',
      'starts 4 run 1',
      'wakes +0',
    ],
  ],
  [
    'finalizes in one step',
    [...phase, requested(1), requested(2), h.completed(1)],
    { mail: [h.reply(2, h.done)] },
    [
      'stepCompleted 2 output=7 attempt=1',
      'stepRequested 3 action="triarch:finalize" name="triarch:finalize" input=[{action="a.b" input=1 output=1}, {action="a.b" input=2 output=7}] policy={}',
      'starts 3 run 1',
      'wakes +0',
    ],
  ],
  [
    'finalizes in one step what was not skipped',
    [...phase, requested(1, { rescue: 'skip' }), requested(2), h.completed(2)],
    { mail: [fails] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'stepSkipped 1 cascade=[] by="rescue"',
      'stepRequested 3 action="triarch:finalize" name="triarch:finalize" input=[{action="a.b" input=2 output=2}] policy={}',
      'starts 3 run 1',
      'wakes +0',
    ],
  ],
  [
    'finalizes nothing, for all was skipped',
    [
      ...phase,
      requested(1),
      requested(2, { rescue: 'skip' }),
      { type: 'stepSkipped', id: 1, cascade: [], by: 'rescue' },
    ],
    { mail: [h.reply(2, h.failed({ retryable: false }))] },
    [
      'attemptFailed 2 operation="run" error=(Error: no) attempt=1',
      'stepSkipped 2 cascade=[] by="rescue"',
      'returned output=null',
      'stopped result="warning" output=null',
    ],
  ],
  [
    'finalizes more than one step may be given',
    [...phase, requested(1), requested(2), h.completed(1)],
    { mail: [h.reply(2, h.done)], limits: { payload: 1 } },
    [
      'stepCompleted 2 output=7 attempt=1',
      'stepRequested 3 action="triarch:finalize" name="triarch:finalize" input=null policy={}',
      'attemptFailed 3 operation="run" error=(PAYLOAD_TOO_LARGE: its input has 77 characters as JSON; the limit is 64) attempt=1',
      'plannedStepFailed 3 error=(PAYLOAD_TOO_LARGE: its input has 77 characters as JSON; the limit is 64)',
      'threw error=(STEP_FAILED: Step 3 (triarch:finalize) failed after 1 attempt: its input has 77 characters as JSON; the limit is 64 < (PAYLOAD_TOO_LARGE: its input has 77 characters as JSON; the limit is 64) {stepId=3 action="triarch:finalize" attempts=1 rescue="compensate"}) rescue="compensate"',
      'stepCancelled 3',
      'compensating',
      'undoRequested 1 at=+0',
      'undoRequested 2 at=+0',
      'starts 1 undo 1',
      'starts 2 undo 1',
      'wakes +0',
    ],
  ],
  ['is undone', back, {}, ['compensating', 'undoRequested 5 at=+0', 'starts 5 undo 1', 'wakes +0']],
  [
    'has undone what came after a join',
    [...back, { type: 'compensating' }, h.undoing(5)],
    { mail: [h.reply(5, h.done, { operation: 'undo' })] },
    [
      'undone 5 attempt=1',
      'undoRequested 2 at=+0',
      'undoRequested 3 at=+0',
      'starts 2 undo 1',
      'starts 3 undo 1',
      'wakes +0',
    ],
  ],
  [
    'has undone one side of a fork',
    [...back, { type: 'compensating' }, h.undoing(5), undone(5), h.undoing(2), h.undoing(3)],
    { mail: [h.reply(2, h.done, { operation: 'undo' })] },
    ['undone 2 attempt=1'],
  ],
  [
    'has undone both sides of a fork',
    [...back, { type: 'compensating' }, h.undoing(5), undone(5), h.undoing(2), h.undoing(3), undone(2)],
    { mail: [h.reply(3, h.done, { operation: 'undo' })] },
    ['undone 3 attempt=1', 'undoRequested 1 at=+0', 'starts 1 undo 1', 'wakes +0'],
  ],
  [
    'has undone all',
    [
      ...back,
      { type: 'compensating' },
      h.undoing(5),
      undone(5),
      h.undoing(2),
      h.undoing(3),
      undone(2),
      undone(3),
      h.undoing(1),
    ],
    { mail: [h.reply(1, h.done, { operation: 'undo' })] },
    ['undone 1 attempt=1', 'stopped result="compensated"'],
  ],
  [
    'is undone and steps between cannot be',
    [
      ...h.plan([step, after(1), after(2)]),
      requested(1),
      h.completed(1),
      requested(2, { undo: false }),
      h.completed(2),
      requested(3, { undo: false }),
      h.completed(3),
      h.stopped('success', { output: null }),
      h.closing(true, { cause: 'operator' }),
    ],
    {},
    ['compensating', 'undoRequested 1 at=+0', 'starts 1 undo 1', 'wakes +0'],
  ],
  [
    'is made',
    [{ type: 'planning' }],
    {
      has: 'plan',
      mail: [{ type: 'planned', plan: { first: 1, steps: [step], policies: [], groups: [], output: null } }],
    },
    [
      'planned plan={first=1 steps=[{action="a.b"}] policies=[] groups=[] output=null}',
      'started',
      'stepRequested 1 action="a.b" name="b" input=null policy={}',
      'begins',
      'starts 1 run 1',
      'wakes +0',
    ],
  ],
  [
    'cannot be made',
    [{ type: 'planning' }],
    { has: 'plan', mail: [{ type: 'unplanned', error: h.error }] },
    ['threw error=(Error: no) rescue="fail"', 'stopped result="error" error=(Error: no)'],
  ],
  [
    'is made for a task that stops',
    [{ type: 'planning' }, h.closing(false)],
    { has: 'plan', mail: [{ type: 'unplanned', error: h.error }] },
    ['stopped result="cancelled"', 'stale 1'],
  ],
  [
    'is made twice',
    diamond,
    { mail: [{ type: 'planned', plan: { first: 1, steps: [step], policies: [], groups: [], output: null } }] },
    ['stepRequested 1 action="a.b" name="b" input=null policy={}', 'stale 1', 'starts 1 run 1', 'wakes +0'],
  ],
  [
    'begins with a step that refers to another',
    h.plan([step, { ...step, input: of(1) }]),
    {},
    ['stepRequested 1 action="a.b" name="b" input=null policy={}', 'starts 1 run 1', 'wakes +0'],
  ],
  [
    'begins with a join',
    h.plan([{ action: null }, after(1), { action: null, after: [1] }]),
    {},
    ['stepRequested 2 action="a.b" name="b" input=null policy={}', 'starts 2 run 1', 'wakes +0'],
  ],
  [
    'has nothing to finalize',
    h.plan([{ action: FINALIZE, finalizes: [] }]),
    {},
    ['returned output=null', 'stopped result="success" output=null'],
  ],
  [
    'skips what is skipped already',
    [
      ...h.plan([step, step, after(1, 2), step]),
      requested(1),
      requested(2, { rescue: 'skip' }),
      { type: 'stepSkipped', id: 1, cascade: [3], by: 'rescue' },
      requested(4),
      h.completed(4),
    ],
    { mail: [h.reply(2, h.failed({ retryable: false }))] },
    [
      'attemptFailed 2 operation="run" error=(Error: no) attempt=1',
      'stepSkipped 2 cascade=[3] by="rescue"',
      'returned output=null',
      'stopped result="warning" output=null',
    ],
  ],
]

it.each(table)('when a plan %s, this comes of it', (_, history, circumstances, does) => {
  expect(turned(history, { has: 'plan', ...circumstances })).toEqual(does)
})
