import type { Part } from './blueprint.ts'
import { calmPlan, type NodePlan, type Plan } from './plan.ts'
import type { Op } from './program.ts'

const whole: NodePlan = { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 }
const owner: NodePlan = { roles: ['scheduler', 'supervisor'], skew: 0 }
const hands: NodePlan = { roles: ['agent'], skew: 0 }

const reserve: Op = { do: 'step', action: 'reserve' }
const charge: Op = { do: 'step', action: 'charge' }
const refused: Op = { do: 'step', action: 'refuse', order: { permanent: true } }
const slow: Op = { do: 'step', action: 'charge', order: { slow: 120 } }

/** One task `a` that is a plan of these parts. */
function plan(parts: Part[], part: Partial<Plan> = {}): Plan {
  return calmPlan({ tasks: [{ id: 'a', at: 0, ops: [], parts }], ...part })
}

const step = (
  action: Extract<Part, { do: 'step' }>['action'],
  part: Partial<Extract<Part, { do: 'step' }>> = {},
): Part => {
  return { do: 'step', action, ...part }
}

/** One task `a` of these operations. */
function task(ops: Op[], part: Partial<Plan> = {}): Plan {
  return calmPlan({ tasks: [{ id: 'a', at: 0, ops }], ...part })
}

/** Small courses of events, each about one promise: small enough to hurt them at every single call. */
export const scenarios: Readonly<Record<string, Plan>> = {
  sequence: task([reserve, charge, { do: 'local' }]),
  retries: task([{ do: 'step', action: 'reserve', order: { fails: 2 } }, charge]),
  parallel: task([{ do: 'all', of: [[reserve], [charge], [{ do: 'local' }]] }, reserve]),
  'rescue by skip': task([reserve, { do: 'step', action: 'mail', order: { permanent: true } }, charge]),
  'rescue by pause': task([reserve, { do: 'step', action: 'refuse', order: { permanent: true }, rescue: 'pause' }]),
  'rescue by failure': task([reserve, { ...refused, rescue: 'fail' }]),
  'rescue by compensation': task([reserve, { do: 'all', of: [[charge], [{ do: 'local' }]] }, { do: 'undo' }, refused]),
  'undo that fails at first': task([{ do: 'step', action: 'reserve', order: { undoFails: 2 } }, charge, refused]),
  'failure of the code itself': task([reserve, { do: 'fail' }]),
  'failure that is caught': task([{ do: 'try', ops: [reserve, refused] }, charge]),
  'child that is called': task([reserve, { do: 'call', ops: [charge] }]),
  'child that is undone': task([
    { do: 'call', ops: [reserve, charge] },
    { do: 'call', ops: [reserve], undo: false },
    refused,
  ]),
  'child that is started': task([{ do: 'start', ops: [charge] }, reserve]),
  'child that is cancelled': task([
    { do: 'all', of: [[{ do: 'call', ops: [slow, { do: 'sleep', ms: 50 }] }], [refused]] },
  ]),
  'child that is waited for': task([
    {
      do: 'all',
      of: [
        [{ do: 'call', ops: [slow], onCancel: 'wait' }],
        [{ do: 'call', ops: [slow], onCancel: 'detach' }],
        [refused],
      ],
    },
  ]),
  'log that outlives its owner': task(
    [{ do: 'say' }, reserve, { do: 'say' }, { do: 'sleep', ms: 1_500 }, { do: 'say' }, charge, { do: 'say' }],
    { nodes: [whole, whole] },
  ),
  'value that is handed on': task(
    [1, 2, 1, 0, 2, 1].map((n) => (n === 0 ? { do: 'anew' } : { do: 'carry', n })),
    { nodes: [whole, whole] },
  ),
  events: task([{ do: 'event' }, reserve, { do: 'event' }, { do: 'try', ops: [{ do: 'event', timeout: 5 }] }]),
  timers: task([{ do: 'sleep', ms: 30 }, reserve, { do: 'race', of: [[{ do: 'sleep', ms: 20 }], [slow]] }]),
  'long sleep': task([reserve, { do: 'sleep', ms: 6_000 }, charge]),
  'late start': calmPlan({ tasks: [{ id: 'a', at: 0, ops: [reserve], startAt: 300 }] }),
  'start-before that passes': calmPlan({
    tasks: [{ id: 'a', at: 0, ops: [reserve], startBefore: 400 }],
    nodes: [hands, { roles: ['supervisor'], skew: 0 }, owner],
    hurts: [{ at: 0, kind: 'crash', node: 2, ms: 1_500 }],
    chaos: 1_600,
  }),
  'complete-by that passes': calmPlan({
    tasks: [{ id: 'a', at: 0, ops: [reserve, { do: 'sleep', ms: 900 }], completeBy: 400 }],
  }),
  'begun anew': task([reserve, { do: 'event' }, { do: 'anew' }, charge, { do: 'event' }]),
  'submitted twice': calmPlan({ tasks: [{ id: 'a', at: 0, ops: [reserve], twice: true }] }),
  cancel: task([reserve, slow, reserve], { moves: [{ at: 60, kind: 'cancel', task: 0 }], chaos: 100 }),
  'cancel of what has just begun': task([reserve, slow], { moves: [{ at: 1, kind: 'cancel', task: 0 }], chaos: 100 }),
  'cancel by force': task([reserve, slow, reserve], { moves: [{ at: 60, kind: 'force', task: 0 }], chaos: 100 }),
  'pause and resume': task([reserve, slow, reserve], { moves: [{ at: 20, kind: 'pause', task: 0 }], chaos: 100 }),
  'cancel of a paused task': task([slow, reserve], {
    moves: [
      { at: 20, kind: 'pause', task: 0 },
      { at: 60, kind: 'cancel', task: 0 },
    ],
    chaos: 100,
  }),
  'retry of a failed task': task(
    [reserve, { do: 'step', action: 'refuse', order: { fails: 8 }, rescue: 'fail' }, charge],
    {
      moves: [{ at: 1_500, kind: 'retry', task: 0 }],
      chaos: 1_600,
    },
  ),
  'retry of an undone task': task([reserve, refused], { moves: [{ at: 400, kind: 'retry', task: 0 }], chaos: 500 }),
  'skip of a failed step': task([reserve, { ...refused, rescue: 'fail' }, charge], {
    moves: [{ at: 400, kind: 'skip', task: 0 }],
    chaos: 500,
  }),
  'undoing of what succeeded': task([reserve, { do: 'call', ops: [charge] }], {
    moves: [{ at: 400, kind: 'compensate', task: 0 }],
    chaos: 500,
  }),
  'attempt that hangs': task([{ do: 'step', action: 'reserve', order: { hangs: 1 } }]),
  'verification of a lost attempt': task([{ do: 'step', action: 'charge', order: { hangs: 1, slow: 50 } }, reserve]),
  'at most once': task([
    { do: 'step', action: 'tell', order: { slow: 50 } },
    { do: 'step', action: 'ship', order: { slow: 50 } },
  ]),
  'heartbeats of a long step': task([{ do: 'step', action: 'travel', order: { slow: 500 } }]),
  'work queue': task([reserve, { do: 'all', of: [[charge], [slow]] }, refused], { nodes: [owner, hands, hands] }),
  'work that is withdrawn': task([{ do: 'all', of: [[slow], [slow], [slow], [slow], [slow]] }], {
    nodes: [owner, hands],
    moves: [{ at: 130, kind: 'cancel', task: 0 }],
    chaos: 200,
  }),
  takeover: task([slow, { do: 'local' }, slow, refused], {
    nodes: [whole, whole],
    hurts: [{ at: 100, kind: 'crash', node: 0, ms: 300 }],
    chaos: 200,
  }),
  'leader that stands still': task([slow, slow], {
    nodes: [whole, whole],
    hurts: [{ at: 30, kind: 'freeze', node: 0, ms: 2_500 }],
    chaos: 2_600,
  }),
  'leader that dies': task([slow], {
    nodes: [whole, whole],
    reign: { names: ['x'], lasts: null, lingers: 50 },
    hurts: [{ at: 100, kind: 'crash', node: 0, ms: 300 }],
    chaos: 200,
  }),
  'plan with references': plan([
    { do: 'concurrence', of: [step('reserve'), step('charge', { order: { slow: 30 } })] },
    step('mail', { refers: [0, 1] }),
    { do: 'sequence', of: [step('reserve'), step('charge', { refers: [2] })] },
  ]),
  'plan that is undone': plan([
    step('reserve'),
    step('charge', { refers: [0] }),
    step('reserve', { order: { undoFails: 1 } }),
    step('refuse', { refers: [1], follows: [2], order: { permanent: true } }),
  ]),
  'plan whose step is skipped with all behind it': plan([
    step('reserve'),
    step('refuse', { order: { permanent: true }, rescue: 'skip' }),
    step('charge', { refers: [1] }),
    step('charge', { follows: [0] }),
  ]),
  'plan that an operator decides': plan([
    step('refuse', { order: { permanent: true }, rescue: 'pause' }),
    step('reserve'),
    step('charge', { refers: [0, 1] }),
  ]),
  'plan that is finalized': plan([step('build'), step('build', { refers: [0] }), step('reserve')]),
  'plan that is made when it is due': calmPlan({
    tasks: [{ id: 'a', at: 0, ops: [], parts: [step('reserve'), step('charge', { refers: [0] })], startAt: 200 }],
  }),
  'plan as a child': task([
    reserve,
    { do: 'call', ops: [], parts: [step('reserve'), step('charge', { refers: [0] })] },
  ]),
  'plan as a child that is undone': task([{ do: 'call', ops: [], parts: [step('reserve'), step('build')] }, refused]),
  'plan that is undone after it succeeded': plan([step('reserve'), step('charge', { refers: [0] })], {
    moves: [{ at: 400, kind: 'compensate', task: 0 }],
    chaos: 500,
  }),
  'plan that starts over': plan([step('reserve'), step('refuse', { refers: [0], order: { permanent: true } })], {
    moves: [{ at: 400, kind: 'retry', task: 0 }],
    chaos: 500,
  }),
  'plan that is retried': plan(
    [
      step('reserve'),
      step('refuse', { refers: [0], order: { fails: 8 }, rescue: 'fail' }),
      step('charge', { refers: [1] }),
    ],
    { moves: [{ at: 1_500, kind: 'retry', task: 0 }], chaos: 1_600 },
  ),
  'step that waits': plan([step('dock'), step('charge', { refers: [0] })]),
  'step that waits, in a function': task([reserve, { do: 'dock' }, charge]),
  'step that waits for nobody': plan([step('dock', { order: { waits: 5 } })]),
  'step that wakes by itself': plan([step('dock', { order: { rings: 5, waits: 1_000 } })]),
  'step that is told of a cancel': plan([step('reserve'), step('dock', { order: { wary: true } })], {
    moves: [{ at: 3, kind: 'cancel', task: 0 }],
    chaos: 100,
  }),
  'cancel of a step that waits': task([reserve, { do: 'dock' }], {
    moves: [{ at: 3, kind: 'cancel', task: 0 }],
    chaos: 100,
  }),
  'plan on other machines': plan(
    [
      { do: 'concurrence', of: [step('reserve'), step('dock'), step('build')] },
      step('refuse', { refers: [0], order: { permanent: true } }),
    ],
    { nodes: [owner, hands, hands] },
  ),
  'one task at a time': calmPlan({
    tasks: [
      { id: 'a', at: 0, ops: [slow], exclusive: { key: 'dock', ifHeld: 'queue' } },
      { id: 'b', at: 1, ops: [reserve], exclusive: { key: 'dock', ifHeld: 'queue' } },
    ],
  }),
  'task that replaces another': calmPlan({
    tasks: [
      { id: 'a', at: 0, ops: [reserve, slow, slow], exclusive: { key: 'dock', ifHeld: 'queue' } },
      { id: 'b', at: 40, ops: [reserve], exclusive: { key: 'dock', ifHeld: 'replace' } },
    ],
  }),
  'task after another': calmPlan({
    tasks: [
      { id: 'a', at: 0, ops: [slow] },
      { id: 'b', at: 1, ops: [reserve], after: ['a'] },
    ],
  }),
  'lock that two want': calmPlan({
    tasks: [
      { id: 'a', at: 0, ops: [{ do: 'lock', name: 'dock', ops: [slow] }, reserve] },
      { id: 'b', at: 1, ops: [{ do: 'lock', name: 'dock', ops: [charge] }] },
    ],
  }),
  'alert of what is ill for a while': task([reserve], {
    nodes: [whole, whole],
    alarm: { ills: [{ at: 300, ms: 3_200 }] },
    chaos: 3_500,
  }),
  batch: task([{ do: 'batch', items: 3, ops: [charge] }, reserve]),
  'store that forgets that a task was given back': task([{ do: 'call', ops: [{ do: 'event', timeout: 30_000 }] }], {
    loss: { at: 10_200, last: 250 },
    chaos: 10_300,
  }),
  'node that drains': task([slow, slow, reserve], {
    nodes: [whole, whole],
    hurts: [{ at: 60, kind: 'restart', node: 0, ms: 0 }],
    chaos: 200,
  }),
}
