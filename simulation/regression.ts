import { calmPlan, type Plan } from './plan.ts'

const whole = { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 } as const satisfies Plan['nodes'][number]

/** Plans that once broke a rule, made small: what was found is not lost when seeds come to mean other programs. */
export const regressions: Readonly<Record<string, Plan>> = {
  'a task that began in the turn that retried it, without what it had been told': calmPlan({
    seed: 700_071,
    nodes: [{ roles: ['scheduler', 'supervisor'], skew: 0 }],
    settings: { lease: 1_000, sweep: 347, poll: 250, tasks: 1_000, tellsChanges: false, distance: 0 },
    tasks: [
      {
        id: 't0',
        at: 1_390,
        ops: [
          {
            do: 'all',
            of: [
              [{ do: 'event' }, { do: 'step', action: 'refuse', rescue: 'fail' }],
              [{ do: 'step', action: 'charge' }],
              [
                { do: 'start', ops: [{ do: 'step', action: 'charge' }], undo: true, onCancel: 'cancel' },
                { do: 'step', action: 'ship', expiresIn: 136 },
              ],
            ],
          },
        ],
      },
    ],
    moves: [
      { at: 3_484, kind: 'retry', task: 0 },
      { at: 1_451, kind: 'cancel', task: 0 },
    ],
    chaos: 4_000,
  }),
  'an application whose first look at the store failed': calmPlan({
    seed: 156,
    nodes: [whole, whole],
    settings: { lease: 1_113, sweep: 180, poll: 50, tasks: 1_000, tellsChanges: true, distance: 0 },
    tasks: [{ id: 't0', at: 463, ops: [{ do: 'step', action: 'mail' }], startAt: 961 }],
    chaos: 4_000,
    calls: { unheard: 0.1, twice: 0.1, slow: 0.1 },
  }),
  'a verification that ended a plan': calmPlan({
    seed: 232,
    settings: { lease: 1_689, sweep: 166, poll: 20, tasks: 1_000, tellsChanges: true, distance: 5 },
    tasks: [
      {
        id: 't2',
        at: 132,
        ops: [],
        parts: [
          { do: 'step', action: 'travel', rescue: 'pause' },
          { do: 'step', action: 'mail', order: { permanent: true }, refers: [0] },
          { do: 'step', action: 'ship', order: { slow: 115 } },
        ],
      },
      { id: 't3', at: 1_048, ops: [{ do: 'undo' }] },
    ],
    chaos: 4_000,
    calls: { 'crash-before': 0.006 },
  }),
  'a group of which one step was skipped': calmPlan({
    tasks: [
      {
        id: 'a',
        at: 0,
        ops: [],
        parts: [
          {
            do: 'sequence',
            of: [
              {
                do: 'concurrence',
                of: [
                  { do: 'step', action: 'reserve', order: { permanent: true }, rescue: 'skip' },
                  { do: 'step', action: 'charge' },
                ],
              },
              {
                do: 'concurrence',
                of: [
                  { do: 'step', action: 'reserve' },
                  { do: 'step', action: 'charge' },
                ],
              },
            ],
          },
        ],
      },
    ],
  }),
  'a task that only waited for a lock when it stopped, and was retried': calmPlan({
    seed: 61000506,
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: { lease: 1827, sweep: 399, poll: 100, tasks: 1000, tellsChanges: true, distance: 40 },
    tasks: [
      {
        id: 't0',
        at: 61,
        ops: [{ do: 'lock', name: 'dock', ops: [{ do: 'event' }] }],
        completeBy: 795,
        exclusive: { key: 'crane', ifHeld: 'queue' },
      },
    ],
    moves: [
      { at: 3631, kind: 'retry', task: 0 },
      { at: 2881, kind: 'resume', task: 0 },
      { at: 3461, kind: 'retry', task: 0 },
      { at: 766, kind: 'force', task: 0 },
      { at: 3272, kind: 'retry', task: 0 },
      { at: 1406, kind: 'compensate', task: 0 },
    ],
    chaos: 4000,
    hurts: [
      { at: 1470, kind: 'cut', node: 0, ms: 726 },
      { at: 1880, kind: 'freeze', node: 2, ms: 98 },
      { at: 232, kind: 'freeze', node: 0, ms: 738 },
      { at: 2692, kind: 'freeze', node: 2, ms: 171 },
      { at: 1676, kind: 'cut', node: 2, ms: 684 },
    ],
  }),
}
