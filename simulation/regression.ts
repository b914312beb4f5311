import { calmPlan, type Plan } from './plan.ts'

const whole = { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 } as const satisfies Plan['nodes'][number]

/** Plans that once broke a rule, made small: what was found is not lost when seeds come to mean other programs. */
export const regressions: Readonly<Record<string, Plan>> = {
  'a task that began in the turn that retried it, without what it had been told': calmPlan({
    seed: 700_071,
    nodes: [{ roles: ['scheduler', 'supervisor'], skew: 0 }],
    settings: { lease: 1000, sweep: 347, poll: 250, tasks: 1000, tellsChanges: false, distance: 0 },
    tasks: [
      {
        id: 't0',
        at: 1390,
        ops: [
          {
            do: 'all',
            of: [
              [{ do: 'event' }, { do: 'step', action: 'refuse', rescue: 'fail' }],
              [{ do: 'step', action: 'charge' }],
              [
                { do: 'start', ops: [{ do: 'step', action: 'charge' }], undo: true, onCancel: 'cancel' },
                { do: 'step', action: 'ship', stepWithin: 136 },
              ],
            ],
          },
        ],
      },
    ],
    moves: [
      { at: 3484, kind: 'retry', task: 0 },
      { at: 1451, kind: 'cancel', task: 0 },
    ],
    chaos: 4000,
  }),
  'an application whose first look at the store failed': calmPlan({
    seed: 156,
    nodes: [whole, whole],
    settings: { lease: 1113, sweep: 180, poll: 50, tasks: 1000, tellsChanges: true, distance: 0 },
    tasks: [{ id: 't0', at: 463, ops: [{ do: 'step', action: 'mail' }], startAt: 961 }],
    chaos: 4000,
    calls: { unheard: 0.1, twice: 0.1, slow: 0.1 },
  }),
  'a verification that ended a plan': calmPlan({
    seed: 232,
    settings: { lease: 1689, sweep: 166, poll: 20, tasks: 1000, tellsChanges: true, distance: 5 },
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
      { id: 't3', at: 1048, ops: [{ do: 'undo' }] },
    ],
    chaos: 4000,
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
    seed: 61_000_506,
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
  'a node without room for the child of a task that keeps what it was sent': calmPlan({
    seed: 1153,
    nodes: [
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 5, historyBytes: 6517, inbox: 5, inboxBytes: 456, fanOut: 5, memory: 19_551 },
      },
    ],
    settings: { lease: 780, sweep: 214, poll: 250, tasks: 1, tellsChanges: false, distance: 40 },
    tasks: [
      {
        id: 't0',
        at: 6,
        ops: [
          { do: 'sleep', ms: 213 },
          { do: 'step', action: 'mail', order: { fails: 1, slow: 88 } },
          { do: 'event', timeout: 180 },
          { do: 'undo' },
        ],
      },
      {
        id: 't1',
        at: 379,
        ops: [],
        parts: [
          {
            do: 'sequence',
            of: [
              { do: 'step', action: 'travel', order: {} },
              { do: 'step', action: 'ship', order: { slow: 111 }, refers: [0], rescue: 'fail' },
              { do: 'step', action: 'refuse', order: { slow: 81 }, refers: [0] },
            ],
          },
          { do: 'step', action: 'tell', order: { fails: 1, slow: 149 }, follows: [1, 0], rescue: 'skip' },
          { do: 'step', action: 'charge', order: { fails: 2, slow: 17, permanent: true } },
          {
            do: 'sequence',
            of: [
              { do: 'step', action: 'ship', order: { slow: 1 }, rescue: 'skip' },
              { do: 'step', action: 'refuse', order: {}, follows: [4, 3] },
              {
                do: 'concurrence',
                of: [
                  { do: 'step', action: 'travel', order: { hangs: 1, undoFails: 2 } },
                  { do: 'step', action: 'build', order: { undoFails: 1 }, refers: [1, 1], follows: [6, 2] },
                ],
              },
              { do: 'step', action: 'mail', order: { slow: 21 } },
            ],
          },
        ],
        startAt: 450,
      },
      {
        id: 't2',
        at: 1192,
        ops: [
          {
            do: 'race',
            of: [
              [
                { do: 'patched' },
                { do: 'step', action: 'reserve', order: { slow: 78, undoFails: 1 } },
                { do: 'progress' },
                { do: 'sleep', ms: 21 },
              ],
              [
                {
                  do: 'race',
                  of: [
                    [
                      {
                        do: 'call',
                        ops: [
                          { do: 'local', order: { slow: 107, undoFails: 2, permanent: false } },
                          { do: 'step', action: 'refuse', order: { hangs: 1 } },
                          { do: 'step', action: 'refuse', order: {} },
                        ],
                        undo: true,
                        onCancel: 'cancel',
                      },
                      { do: 'step', action: 'charge', order: {}, stepWithin: 502 },
                      { do: 'step', action: 'tell', order: { slow: 83 } },
                      {
                        do: 'start',
                        ops: [],
                        parts: [
                          { do: 'step', action: 'build', order: { slow: 125 } },
                          { do: 'step', action: 'build', order: { slow: 94 }, refers: [0, 0] },
                        ],
                        undo: true,
                        onCancel: 'cancel',
                      },
                    ],
                    [{ do: 'event' }, { do: 'step', action: 'travel', order: { fails: 1 } }],
                  ],
                },
              ],
            ],
          },
          { do: 'event' },
          { do: 'step', action: 'refuse', order: { slow: 49 } },
        ],
      },
      { id: 't3', at: 1287, ops: [], parts: [{ do: 'step', action: 'tell', order: { undoFails: 1 }, follows: [] }] },
    ],
    moves: [{ at: 2281, kind: 'force', task: 0 }],
    chaos: 4000,
    hurts: [],
    calls: { unheard: 0.03 },
    strike: null,
  }),
  'a plan that is too long when a step of it is skipped': calmPlan({
    seed: 1167,
    nodes: [
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 31, historyBytes: 4031, inbox: 1, inboxBytes: 569, fanOut: 5, memory: 12_093 },
      },
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 7, historyBytes: 3162, inbox: 6, inboxBytes: 404, fanOut: 1, memory: 12_648 },
      },
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 12, historyBytes: 6380, inbox: 5, inboxBytes: 470, fanOut: 1, memory: 6380 },
      },
    ],
    settings: { lease: 1053, sweep: 185, poll: 20, tasks: 1000, tellsChanges: true, distance: 1 },
    tasks: [
      {
        id: 't0',
        at: 579,
        ops: [],
        parts: [
          {
            do: 'sequence',
            of: [
              {
                do: 'sequence',
                of: [
                  { do: 'step', action: 'ship', order: {}, refers: [], follows: [] },
                  { do: 'step', action: 'travel', order: { slow: 54 }, refers: [0, 0] },
                  { do: 'step', action: 'charge', order: {} },
                ],
              },
              { do: 'step', action: 'refuse', order: { undoFails: 1 } },
            ],
          },
          {
            do: 'sequence',
            of: [
              { do: 'step', action: 'travel', order: { fails: 1 } },
              { do: 'step', action: 'mail', order: { hangs: 1, undoFails: 2 }, refers: [0], rescue: 'fail' },
            ],
          },
          {
            do: 'concurrence',
            of: [
              {
                do: 'concurrence',
                of: [
                  { do: 'step', action: 'tell', order: { fails: 1, slow: 108 }, rescue: 'skip' },
                  {
                    do: 'step',
                    action: 'dock',
                    order: { slow: 73, undoFails: 2, waits: 378 },
                    follows: [5, 3],
                    rescue: 'compensate',
                  },
                ],
              },
            ],
          },
        ],
      },
      {
        id: 't1',
        at: 913,
        ops: [],
        parts: [
          { do: 'step', action: 'mail', order: {} },
          { do: 'step', action: 'charge', order: {} },
          {
            do: 'sequence',
            of: [
              { do: 'step', action: 'charge', order: { slow: 27 }, refers: [0] },
              { do: 'step', action: 'travel', order: { slow: 107, hangs: 1 } },
            ],
          },
          { do: 'step', action: 'dock', order: { slow: 74, hangs: 1, undoFails: 1, waits: 289 }, rescue: 'fail' },
        ],
      },
      {
        id: 't2',
        at: 1453,
        ops: [],
        parts: [
          { do: 'step', action: 'refuse', order: {}, follows: [] },
          { do: 'step', action: 'refuse', order: { slow: 56, permanent: true }, refers: [0, 0], rescue: 'compensate' },
          { do: 'step', action: 'dock', order: { undoFails: 2, waits: 203 }, refers: [0, 1], follows: [1] },
          { do: 'step', action: 'build', order: {}, refers: [0] },
        ],
      },
      {
        id: 't3',
        at: 1229,
        ops: [],
        parts: [
          { do: 'step', action: 'refuse', order: { fails: 1, slow: 21 }, refers: [], rescue: 'compensate' },
          { do: 'step', action: 'reserve', order: {} },
        ],
      },
      {
        id: 't4',
        at: 760,
        ops: [
          {
            do: 'either',
            of: [
              [
                {
                  do: 'all',
                  of: [
                    [
                      {
                        do: 'call',
                        ops: [],
                        parts: [
                          {
                            do: 'concurrence',
                            of: [
                              {
                                do: 'step',
                                action: 'mail',
                                order: { slow: 120, hangs: 1, undoFails: 1 },
                                refers: [],
                                follows: [],
                                rescue: 'compensate',
                              },
                            ],
                          },
                        ],
                        undo: true,
                        onCancel: 'detach',
                      },
                    ],
                    [
                      { do: 'call', ops: [{ do: 'event', timeout: 73 }], undo: true, onCancel: 'wait' },
                      {
                        do: 'step',
                        action: 'reserve',
                        order: { hangs: 1, undoFails: 2 },
                        rescue: 'pause',
                        stepWithin: 113,
                      },
                    ],
                  ],
                },
                { do: 'progress' },
                { do: 'local', order: { undoFails: 1, permanent: false } },
                {
                  do: 'all',
                  of: [
                    [
                      {
                        do: 'settled',
                        of: [
                          [
                            { do: 'step', action: 'reserve', order: { slow: 39 } },
                            { do: 'step', action: 'charge', order: {}, rescue: 'pause', stepWithin: 506 },
                            { do: 'sleep', ms: 209 },
                          ],
                          [
                            { do: 'step', action: 'ship', order: { fails: 2 } },
                            { do: 'step', action: 'reserve', order: { fails: 2, slow: 118 } },
                            { do: 'step', action: 'reserve', order: { undoFails: 2 } },
                            { do: 'event' },
                          ],
                          [
                            { do: 'step', action: 'refuse', order: { slow: 65 } },
                            { do: 'step', action: 'travel', order: { slow: 58, hangs: 1, undoFails: 1 } },
                          ],
                        ],
                      },
                      { do: 'step', action: 'ship', order: { undoFails: 1 } },
                    ],
                    [
                      { do: 'step', action: 'ship', order: { slow: 123 }, rescue: 'skip' },
                      { do: 'step', action: 'reserve', order: {} },
                      {
                        do: 'all',
                        of: [
                          [{ do: 'step', action: 'ship', order: { undoFails: 1 } }],
                          [
                            { do: 'step', action: 'ship', order: { fails: 1, undoFails: 2 }, rescue: 'skip' },
                            { do: 'step', action: 'ship', order: { fails: 1, slow: 96 } },
                            { do: 'progress' },
                            { do: 'step', action: 'reserve', order: {} },
                          ],
                        ],
                      },
                      { do: 'progress' },
                    ],
                    [
                      { do: 'step', action: 'charge', order: { undoFails: 1 } },
                      { do: 'progress' },
                      { do: 'step', action: 'tell', order: {} },
                    ],
                  ],
                },
              ],
              [{ do: 'step', action: 'tell', order: {} }],
              [
                { do: 'progress' },
                { do: 'step', action: 'refuse', order: {} },
                {
                  do: 'either',
                  of: [
                    [
                      { do: 'step', action: 'reserve', order: {} },
                      { do: 'sleep', ms: 91 },
                      {
                        do: 'all',
                        of: [
                          [{ do: 'dock', order: { rings: 144 } }],
                          [
                            { do: 'sleep', ms: 138 },
                            { do: 'step', action: 'ship', order: {} },
                            { do: 'local', order: { fails: 2, slow: 21, permanent: false } },
                            { do: 'step', action: 'mail', order: {}, stepWithin: 88 },
                          ],
                        ],
                      },
                      { do: 'dock', order: { waits: 424 } },
                    ],
                    [
                      { do: 'try', ops: [{ do: 'step', action: 'reserve', order: { permanent: true } }] },
                      { do: 'dock', order: { slow: 2, undoFails: 2, waits: 137 } },
                      { do: 'step', action: 'charge', order: {} },
                      { do: 'step', action: 'reserve', order: { slow: 47 } },
                    ],
                  ],
                },
              ],
            ],
          },
          { do: 'step', action: 'reserve', order: {}, rescue: 'pause' },
          { do: 'fail' },
        ],
        startAt: 1155,
      },
    ],
    moves: [
      { at: 2348, kind: 'force', task: 3 },
      { at: 1978, kind: 'compensate', task: 3 },
      { at: 2224, kind: 'skip', task: 2 },
      { at: 3962, kind: 'pause', task: 2 },
    ],
    chaos: 4000,
    hurts: [],
    calls: { busy: 0.01, unheard: 0.01, slow: 0.01 },
    strike: null,
  }),
  'a node that gave a task back after nothing that it had written was acknowledged, before the store forgot that':
    calmPlan({
      seed: 200_000_419,
      nodes: [
        { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
        { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
        { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
      ],
      settings: { lease: 949, sweep: 281, poll: 100, tasks: 1000, tellsChanges: true, distance: 1 },
      tasks: [
        {
          id: 't0',
          at: 944,
          ops: [
            { do: 'dock', order: { fails: 2, slow: 147, undoFails: 2, waits: 466, wary: true } },
            { do: 'step', action: 'travel', order: { fails: 1 } },
          ],
        },
        {
          id: 't1',
          at: 200,
          ops: [
            { do: 'step', action: 'charge', order: { slow: 131 } },
            { do: 'step', action: 'reserve', order: { fails: 2, slow: 132 }, stepWithin: 489 },
            { do: 'step', action: 'travel', order: {} },
            { do: 'step', action: 'tell', order: {} },
            { do: 'fail' },
          ],
        },
      ],
      moves: [
        { at: 2506, kind: 'skip', task: 1 },
        { at: 3366, kind: 'cancel', task: 1 },
        { at: 3809, kind: 'cancel', task: 0 },
      ],
      chaos: 4000,
      hurts: [],
      calls: { unheard: 0.03, twice: 0.03, 'crash-before': 0.006 },
      strike: null,
      loss: { at: 1938, last: 952 },
    }),
  'a request that was queued without a record, and was all that the store forgot': calmPlan({
    seed: 50_000_815,
    nodes: [
      { roles: ['scheduler'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['supervisor'], skew: 0 },
      { roles: ['scheduler'], skew: 0 },
      { roles: ['agent'], skew: 0 },
    ],
    settings: { lease: 1151, sweep: 354, poll: 250, tasks: 1000, tellsChanges: false, distance: 40 },
    tasks: [
      { id: 't0', at: 589, ops: [], parts: [{ do: 'step', action: 'charge' }], startAt: 1342 },
      { id: 't1', at: 1492, ops: [{ do: 'step', action: 'reserve', order: {} }], completeBy: 1558 },
      { id: 't2', at: 1244, ops: [], parts: [{ do: 'step', action: 'dock', order: {} }], startAt: 408 },
      { id: 't3', at: 329, ops: [{ do: 'step', action: 'reserve', order: { fails: 2, slow: 81 }, rescue: 'fail' }] },
    ],
    moves: [],
    chaos: 4000,
    hurts: [
      { at: 2851, kind: 'cut', node: 2, ms: 764 },
      { at: 1660, kind: 'cut', node: 5, ms: 1977 },
      { at: 57, kind: 'cut', node: 2, ms: 1305 },
      { at: 267, kind: 'crash', node: 0, ms: 2948 },
    ],
    calls: {},
    strike: null,
    loss: { at: 1268, last: 94 },
  }),
  'a sleeper that is due by a clock of the store which leapt ahead of those of the nodes': calmPlan({
    seed: 900_005_441,
    nodes: [
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: { lease: 977, sweep: 350, poll: 250, tasks: 3, tellsChanges: false, distance: 0 },
    tasks: [
      {
        id: 't0',
        at: 640,
        ops: [
          { do: 'step', action: 'charge', order: { slow: 37 } },
          {
            do: 'all',
            of: [
              [
                { do: 'step', action: 'travel', order: { slow: 146 } },
                {
                  do: 'call',
                  ops: [],
                  parts: [
                    { do: 'step', action: 'reserve', order: {}, refers: [] },
                    { do: 'step', action: 'reserve', order: { slow: 134 } },
                  ],
                  undo: true,
                  onCancel: 'detach',
                },
              ],
              [
                {
                  do: 'try',
                  ops: [
                    {
                      do: 'settled',
                      of: [
                        [
                          { do: 'event' },
                          { do: 'patched' },
                          { do: 'step', action: 'reserve', order: { undoFails: 1 }, stepWithin: 276 },
                        ],
                        [
                          { do: 'step', action: 'refuse', order: { fails: 2, undoFails: 1 } },
                          { do: 'dock', order: { waits: 350, rings: 135 } },
                          { do: 'sleep', ms: 147 },
                        ],
                        [
                          { do: 'step', action: 'refuse', order: { slow: 23, undoFails: 2 } },
                          { do: 'step', action: 'mail', order: { slow: 94, undoFails: 2 } },
                        ],
                      ],
                    },
                  ],
                },
              ],
              [
                { do: 'step', action: 'refuse', order: { undoFails: 1 }, rescue: 'pause' },
                { do: 'step', action: 'mail', order: {} },
                { do: 'patched' },
                { do: 'event' },
              ],
            ],
          },
        ],
        completeBy: 730,
      },
      {
        id: 't1',
        at: 171,
        ops: [
          {
            do: 'call',
            ops: [
              { do: 'step', action: 'charge', order: { fails: 1, slow: 89 }, rescue: 'compensate' },
              { do: 'step', action: 'charge', order: {} },
              {
                do: 'all',
                of: [
                  [{ do: 'fail' }],
                  [{ do: 'event', timeout: 384 }],
                  [
                    { do: 'step', action: 'mail', order: {} },
                    { do: 'step', action: 'ship', order: { hangs: 1 } },
                    { do: 'progress' },
                    { do: 'event', timeout: 366 },
                  ],
                ],
              },
            ],
            undo: false,
            onCancel: 'cancel',
          },
          { do: 'step', action: 'charge', order: { slow: 49 } },
        ],
      },
      {
        id: 't2',
        at: 538,
        ops: [
          {
            do: 'all',
            of: [
              [
                { do: 'step', action: 'charge', order: { undoFails: 2 } },
                { do: 'step', action: 'charge', order: { fails: 2, slow: 54 } },
                { do: 'patched' },
              ],
              [
                {
                  do: 'start',
                  ops: [
                    {
                      do: 'race',
                      of: [
                        [{ do: 'step', action: 'charge', order: { slow: 148 } }],
                        [
                          { do: 'step', action: 'charge', order: { fails: 1 } },
                          { do: 'step', action: 'refuse', order: { slow: 94, undoFails: 2 } },
                        ],
                      ],
                    },
                    { do: 'step', action: 'reserve', order: {}, rescue: 'compensate' },
                    {
                      do: 'race',
                      of: [
                        [
                          { do: 'step', action: 'refuse', order: { slow: 139 } },
                          { do: 'local', order: { undoFails: 2, permanent: false } },
                          { do: 'step', action: 'travel', order: {} },
                          { do: 'undo' },
                        ],
                        [{ do: 'dock', order: { waits: 417 } }],
                      ],
                    },
                  ],
                  undo: true,
                  onCancel: 'detach',
                },
                { do: 'dock', order: {} },
                {
                  do: 'race',
                  of: [
                    [
                      {
                        do: 'start',
                        ops: [
                          { do: 'step', action: 'reserve', order: { slow: 110, permanent: true, undoFails: 2 } },
                          { do: 'step', action: 'travel', order: { fails: 1, slow: 130, permanent: true } },
                        ],
                        undo: true,
                        onCancel: 'cancel',
                      },
                      {
                        do: 'either',
                        of: [
                          [{ do: 'dock', order: { slow: 49, undoFails: 2, wary: true } }],
                          [
                            { do: 'event' },
                            { do: 'step', action: 'charge', order: { slow: 100, undoFails: 2 } },
                            { do: 'event', timeout: 32 },
                            { do: 'step', action: 'refuse', order: { fails: 2, permanent: true, undoFails: 1 } },
                          ],
                        ],
                      },
                      { do: 'progress' },
                    ],
                    [
                      { do: 'fail' },
                      {
                        do: 'settled',
                        of: [
                          [
                            { do: 'step', action: 'tell', order: { undoFails: 2 }, stepWithin: 486 },
                            { do: 'event' },
                            { do: 'local', order: { hangs: 1, permanent: false } },
                            { do: 'fail' },
                          ],
                          [
                            { do: 'step', action: 'mail', order: { slow: 42 }, rescue: 'fail' },
                            { do: 'undo' },
                            { do: 'step', action: 'tell', order: { undoFails: 1 } },
                            { do: 'dock', order: { rings: 25, wary: true } },
                          ],
                        ],
                      },
                      { do: 'step', action: 'charge', order: { slow: 5 } },
                      { do: 'step', action: 'charge', order: { fails: 1, slow: 56 } },
                    ],
                    [
                      { do: 'local', order: { fails: 2, undoFails: 1, permanent: false } },
                      {
                        do: 'call',
                        ops: [
                          { do: 'step', action: 'reserve', order: { slow: 79 } },
                          { do: 'step', action: 'travel', order: {} },
                        ],
                        undo: true,
                        onCancel: 'wait',
                      },
                      {
                        do: 'call',
                        ops: [{ do: 'local', order: { permanent: false } }],
                        undo: false,
                        onCancel: 'cancel',
                      },
                    ],
                  ],
                },
              ],
            ],
          },
          { do: 'event', timeout: 309 },
        ],
        completeBy: 510,
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [],
    calls: {},
    strike: null,
    leaps: [
      { at: 2754, ms: 175_735 },
      { at: 779, ms: 266_621 },
      { at: 3605, ms: 223_991 },
    ],
  }),
  'a task that was ended inside a lock and then goes back to before it asked for it': calmPlan({
    seed: 740_001_728,
    nodes: [
      { roles: ['scheduler'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['supervisor'], skew: 0 },
      { roles: ['scheduler'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['supervisor'], skew: 0 },
    ],
    settings: { lease: 1026, sweep: 237, poll: 50, tasks: 1000, tellsChanges: true, distance: 0, throws: true },
    tasks: [
      {
        id: 't0',
        at: 401,
        ops: [
          { do: 'picky' },
          {
            do: 'lock',
            name: 'crane',
            ops: [
              { do: 'step', action: 'mail', order: { slow: 0, hangs: 1 } },
              { do: 'step', action: 'refuse', order: { hangs: 1 } },
            ],
          },
        ],
      },
    ],
    moves: [
      { at: 1742, kind: 'force', task: 0 },
      { at: 2160, kind: 'retry', task: 0 },
    ],
    chaos: 4000,
    hurts: [],
    calls: {},
    strike: null,
    schedules: [],
  }),
  'an owner whose record came late, after the store had forgotten its claim and given the same anew': calmPlan({
    seed: 740_002_081,
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: { lease: 1576, sweep: 189, poll: 20, tasks: 1000, tellsChanges: true, distance: 40 },
    tasks: [
      {
        id: 't0',
        at: 552,
        ops: [{ do: 'lock', name: 'crane', ops: [{ do: 'step', action: 'charge', order: {}, rescue: 'pause' }] }],
      },
      {
        id: 't1',
        at: 307,
        ops: [],
        parts: [
          { do: 'step', action: 'mail', order: { slow: 99 }, rescue: 'pause' },
          { do: 'step', action: 'reserve', order: { slow: 15, hangs: 1, undoFails: 2 } },
          { do: 'step', action: 'charge', order: { fails: 1, slow: 53 } },
          { do: 'step', action: 'charge', refers: [1, 0], rescue: 'pause' },
        ],
        startAt: 198,
        exclusive: { key: 'crane', ifHeld: 'queue' },
      },
      {
        id: 't2',
        at: 1357,
        ops: [
          {
            do: 'either',
            of: [
              [{ do: 'event' }],
              [
                { do: 'step', action: 'charge', order: { slow: 48 } },
                { do: 'step', action: 'reserve', order: {} },
              ],
            ],
          },
          { do: 'step', action: 'refuse', order: { fails: 2 } },
        ],
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [],
    calls: { busy: 0.1 },
    strike: null,
    loss: { at: 2283, last: 123 },
  }),
  'a task with an output that outgrows all nodes while it is undone, and is ended': calmPlan({
    seed: 740_009_240,
    nodes: [
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 22, historyBytes: 6760, inbox: 1, inboxBytes: 563, fanOut: 4, memory: 6760 },
      },
    ],
    settings: { lease: 1901, sweep: 200, poll: 250, tasks: 1000, tellsChanges: true, distance: 0, throws: true },
    tasks: [
      {
        id: 't0',
        at: 1424,
        ops: [],
        parts: [{ do: 'step', action: 'tell', order: { hangs: 1 }, refers: [] }],
        startAt: 219,
      },
      {
        id: 't1',
        at: 225,
        ops: [],
        parts: [
          { do: 'step', action: 'build' },
          { do: 'step', action: 'travel', order: {} },
          { do: 'step', action: 'build', order: { undoFails: 2 }, rescue: 'compensate' },
          { do: 'step', action: 'build', order: { fails: 1 }, refers: [2, 0], follows: [0, 2] },
        ],
        twice: true,
        after: [{ task: 't0', on: 'end' }],
      },
    ],
    moves: [{ at: 3923, kind: 'compensate', task: 1 }],
    chaos: 4000,
    hurts: [],
    calls: {},
    strike: null,
    loss: { at: 2790, last: 884 },
  }),
  'two requests for one task that an agent gives back until later, where its node has room for no other': calmPlan({
    seed: 770_001_346,
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: { lease: 1374, sweep: 186, poll: 250, tasks: 1, tellsChanges: true, distance: 0, throws: true },
    tasks: [
      { id: 't0', at: 183, ops: [{ do: 'step', action: 'charge', order: {} }], startBefore: 121 },
      {
        id: 't1',
        at: 868,
        ops: [],
        parts: [
          {
            do: 'concurrence',
            of: [
              { do: 'step', action: 'reserve', order: { fails: 1 }, refers: [] },
              { do: 'step', action: 'reserve', order: { slow: 76, hangs: 1 } },
              { do: 'step', action: 'reserve', order: { fails: 2 }, refers: [0], follows: [0, 1] },
            ],
          },
          { do: 'step', action: 'charge', order: { undoFails: 1 }, refers: [2, 1], follows: [1], rescue: 'compensate' },
          { do: 'step', action: 'reserve', order: { permanent: true }, rescue: 'fail' },
        ],
      },
      {
        id: 't2',
        at: 1068,
        ops: [
          { do: 'event', timeout: 199 },
          { do: 'local', order: { permanent: false } },
          { do: 'step', action: 'refuse', order: {} },
          { do: 'anew' },
        ],
      },
      {
        id: 't3',
        at: 142,
        ops: [],
        parts: [
          { do: 'step', action: 'mail', order: {}, refers: [] },
          {
            do: 'concurrence',
            of: [
              { do: 'step', action: 'mail', order: { slow: 107, undoFails: 1 }, refers: [0] },
              { do: 'step', action: 'charge', order: { undoFails: 1 }, refers: [1, 0], follows: [1, 1] },
            ],
          },
        ],
      },
    ],
    moves: [
      { at: 1391, kind: 'cancel', task: 2 },
      { at: 381, kind: 'skip', task: 0 },
      { at: 2812, kind: 'skip', task: 3 },
      { at: 1042, kind: 'compensate', task: 0 },
      { at: 1055, kind: 'cancel', task: 3 },
    ],
    chaos: 4000,
    hurts: [
      { at: 417, kind: 'cut', node: 2, ms: 2513 },
      { at: 299, kind: 'freeze', node: 1, ms: 2394 },
      { at: 2266, kind: 'freeze', node: 1, ms: 872 },
      { at: 982, kind: 'restart', node: 0, ms: 148 },
    ],
    calls: {},
    strike: null,
    loss: { at: 2440, last: 1014 },
  }),
  'a machine that freezes anew before it is thawed': calmPlan({
    seed: 770_000_559,
    nodes: [
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 31, historyBytes: 5569, inbox: 6, inboxBytes: 146, fanOut: 4, memory: 5569 },
      },
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 11, historyBytes: 3933, inbox: 4, inboxBytes: 460, fanOut: 1, memory: 3933 },
      },
    ],
    settings: { lease: 1961, sweep: 265, poll: 20, tasks: 1000, tellsChanges: true, distance: 0, patience: 1898 },
    tasks: [{ id: 't2', at: 207, ops: [{ do: 'event', timeout: 162 }] }],
    moves: [],
    chaos: 4000,
    hurts: [
      { at: 552, kind: 'freeze', node: 0, ms: 2945 },
      { at: 3359, kind: 'freeze', node: 0, ms: 2545 },
    ],
    calls: { unanswered: 0.03 },
    strike: null,
  }),
  'a task that waits twice for an event, with room for one': calmPlan({
    seed: 780_003_744,
    nodes: [
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 21, historyBytes: 4139, inbox: 1, inboxBytes: 117, fanOut: 5, memory: 12_417 },
      },
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 21, historyBytes: 4139, inbox: 1, inboxBytes: 117, fanOut: 5, memory: 12_417 },
      },
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 21, historyBytes: 4139, inbox: 1, inboxBytes: 117, fanOut: 5, memory: 12_417 },
      },
    ],
    settings: { lease: 1795, sweep: 201, poll: 100, tasks: 1000, tellsChanges: false, distance: 40 },
    tasks: [
      {
        id: 't0',
        at: 622,
        ops: [
          {
            do: 'call',
            ops: [],
            parts: [
              { do: 'step', action: 'reserve', order: {}, refers: [], rescue: 'skip' },
              {
                do: 'sequence',
                of: [
                  { do: 'step', action: 'build', order: { undoFails: 2 }, refers: [0] },
                  { do: 'step', action: 'ship', order: { hangs: 1 }, refers: [1] },
                  {
                    do: 'sequence',
                    of: [{ do: 'step', action: 'dock', order: { slow: 97, undoFails: 2 }, refers: [2, 1] }],
                  },
                ],
              },
            ],
            undo: false,
            onCancel: 'wait',
          },
        ],
      },
      {
        id: 't1',
        at: 1057,
        ops: [
          {
            do: 'settled',
            of: [[{ do: 'event', timeout: 275 }], [{ do: 'dock', order: {} }], [{ do: 'event', timeout: 352 }]],
          },
        ],
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [],
    calls: { refused: 0.01, twice: 0.01, 'crash-before': 0.002 },
    strike: null,
  }),
  'a store that lost a queued retry of a task that has written a record since': calmPlan({
    seed: 820_001_454,
    nodes: [
      { roles: ['scheduler'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['supervisor'], skew: 0 },
      { roles: ['scheduler'], skew: 0 },
    ],
    settings: { lease: 1888, sweep: 258, poll: 50, tasks: 1000, tellsChanges: false, distance: 40 },
    tasks: [
      {
        id: 't0',
        at: 292,
        ops: [
          { do: 'step', action: 'travel', order: {} },
          { do: 'step', action: 'reserve', order: { slow: 104, undoFails: 1 } },
          { do: 'sleep', ms: 168 },
          { do: 'step', action: 'tell', order: {} },
          { do: 'step', action: 'refuse', order: {}, stepWithin: 186 },
        ],
        startAt: 996,
      },
      {
        id: 't1',
        at: 304,
        ops: [],
        parts: [
          { do: 'step', action: 'ship', order: { fails: 2, permanent: true }, rescue: 'pause' },
          { do: 'step', action: 'reserve', order: { slow: 83, undoFails: 1 }, refers: [0, 0], rescue: 'skip' },
          { do: 'step', action: 'charge', order: {} },
          { do: 'step', action: 'travel', order: {} },
          { do: 'step', action: 'travel', order: {}, refers: [0, 2], rescue: 'fail' },
          {
            do: 'sequence',
            of: [
              { do: 'sequence', of: [{ do: 'step', action: 'charge', order: { slow: 34 }, refers: [2, 0] }] },
              { do: 'step', action: 'build', order: { hangs: 1 }, refers: [2, 2] },
            ],
          },
        ],
        startAt: 328,
        completeBy: 2492,
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [
      { at: 1700, kind: 'freeze', node: 2, ms: 1761 },
      { at: 3517, kind: 'freeze', node: 1, ms: 410 },
    ],
    calls: { refused: 0.01 },
    strike: null,
    loss: { at: 2751, last: 69 },
  }),
  'an operator who is to skip a step of a task, the first records of which cannot be read': calmPlan({
    seed: 890_001_604,
    nodes: [
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: {
      lease: 907,
      sweep: 358,
      poll: 20,
      tasks: 2,
      tellsChanges: false,
      distance: 0,
      throws: true,
      strict: 'nodes',
    },
    tasks: [
      { id: 't0', at: 953, ops: [{ do: 'step', action: 'charge', order: {}, rescue: 'compensate' }] },
      {
        id: 't1',
        at: 89,
        ops: [],
        parts: [
          { do: 'step', action: 'refuse', order: { slow: 28 } },
          { do: 'step', action: 'mail', order: { fails: 1 } },
        ],
      },
      { id: 't2', at: 1490, ops: [{ do: 'undo' }, { do: 'progress' }], exclusive: { key: 'dock', ifHeld: 'queue' } },
      {
        id: 't3',
        at: 523,
        ops: [
          {
            do: 'lock',
            name: 'dock',
            ops: [
              { do: 'step', action: 'travel', order: { slow: 118 }, stepWithin: 475 },
              { do: 'step', action: 'mail', order: {} },
              { do: 'step', action: 'reserve', order: {} },
              { do: 'step', action: 'tell', order: { fails: 2 } },
            ],
          },
          { do: 'picky' },
          { do: 'event', timeout: 377 },
          { do: 'weigh', unfit: 'input' },
          { do: 'event', timeout: 281 },
        ],
        exclusive: { key: 'crane', ifHeld: 'queue' },
        after: ['t1'],
      },
    ],
    moves: [
      { at: 1982, kind: 'cancel', task: 2 },
      { at: 1857, kind: 'retry', task: 1 },
      { at: 880, kind: 'skip', task: 3 },
      { at: 2074, kind: 'compensate', task: 0 },
    ],
    chaos: 4000,
    hurts: [],
    calls: { busy: 0.03, unheard: 0.03, twice: 0.03 },
    strike: null,
    poison: [
      { task: 't0', kind: 'refused', at: 411 },
      { task: 't3', kind: 'unreadable', at: 458 },
    ],
  }),
  'a step that waits anew after a retry, while the world is still being answered about its first wait': calmPlan({
    seed: 900_001_469,
    nodes: [
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0, versions: ['1'] },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0, versions: ['1'] },
    ],
    settings: { lease: 1656, sweep: 202, poll: 20, tasks: 1000, tellsChanges: true, distance: 1 },
    tasks: [
      { id: 't0', at: 681, ops: [], parts: [{ do: 'step', action: 'charge' }] },
      {
        id: 't1',
        at: 124,
        ops: [],
        parts: [
          { do: 'step', action: 'build', order: { slow: 29, undoFails: 2 }, refers: [], rescue: 'skip' },
          { do: 'step', action: 'reserve', order: { fails: 1, slow: 16 }, refers: [0] },
          { do: 'step', action: 'reserve', refers: [0, 1], follows: [1], rescue: 'skip' },
          { do: 'step', action: 'refuse', order: { slow: 134 }, refers: [1, 0] },
        ],
        startAt: 1101,
      },
      { id: 't2', at: 192, ops: [{ do: 'fail' }], version: '2' },
      {
        id: 't3',
        at: 687,
        ops: [],
        parts: [
          { do: 'step', action: 'dock', rescue: 'fail' },
          { do: 'step', action: 'ship', rescue: 'pause' },
        ],
      },
    ],
    moves: [
      { at: 642, kind: 'retry', task: 1 },
      { at: 2044, kind: 'force', task: 3 },
      { at: 991, kind: 'cancel', task: 0 },
      { at: 141, kind: 'retry', task: 3 },
      { at: 3505, kind: 'pause', task: 3 },
      { at: 3738, kind: 'retry', task: 3 },
    ],
    chaos: 4000,
    hurts: [
      { at: 1169, kind: 'restart', node: 1, ms: 352 },
      { at: 3796, kind: 'restart', node: 1, ms: 586 },
      { at: 1947, kind: 'restart', node: 0, ms: 727 },
      { at: 3764, kind: 'cut', node: 1, ms: 2012 },
      { at: 1430, kind: 'restart', node: 1, ms: 749 },
      { at: 599, kind: 'cut', node: 1, ms: 1976 },
    ],
    calls: { refused: 0.1, slow: 0.1 },
    strike: null,
    rollout: [
      { at: 3879, node: 0, versions: ['1', '2'] },
      { at: 3883, node: 1, versions: ['1', '2'] },
    ],
  }),
  'probes that a rate limit kept from their queue, and that were taken for probes nobody needs': calmPlan({
    seed: 7231,
    nodes: [whole],
    settings: { lease: 666, sweep: 341, poll: 50, tasks: 1000, tellsChanges: true, distance: 0 },
    tasks: [
      {
        id: 't2',
        at: 1087,
        ops: [],
        parts: [
          { do: 'step', action: 'charge', order: {} },
          { do: 'step', action: 'refuse', order: {}, refers: [0, 0] },
          { do: 'step', action: 'mail', refers: [0, 0] },
          { do: 'step', action: 'refuse' },
        ],
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [],
    calls: {},
    strike: null,
    outage: {
      ills: [
        { at: 429, ms: 1042 },
        { at: 3876, ms: 1527 },
      ],
      rule: { failureRate: 0.9, window: 1559, minimum: 6, open: 747, openMax: 2241, probes: 3 },
      words: [],
    },
    throttle: { limit: 19, per: 1000, burst: 4, rests: { each: 35, ms: 1255 } },
  }),
  'steps in the queues of keys, for which a rate limit reserved nothing': calmPlan({
    seed: 529,
    nodes: [whole],
    settings: {
      lease: 860,
      sweep: 322,
      poll: 250,
      tasks: 1000,
      tellsChanges: false,
      distance: 5,
      throws: true,
      patience: 1909,
    },
    tasks: [
      {
        id: 't1',
        at: 60,
        ops: [
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
            ],
          },
          { do: 'picky' },
          { do: 'step', action: 'reserve', order: { hangs: 1 } },
          { do: 'picky' },
          { do: 'picky' },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
        ],
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [],
    calls: {},
    strike: null,
    outage: {
      ills: [{ at: 230, ms: 1513 }],
      rule: { failureRate: 0.9, window: 2351, minimum: 6, open: 733, openMax: 1466, probes: 2, keyed: true },
      words: [],
    },
    throttle: { limit: 12, per: 1000, burst: 6, rests: { each: 13, ms: 1402 } },
  }),
  'an agent that said hello twice, as its session was over, and that was said twice': calmPlan({
    seed: 143,
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: { lease: 684, sweep: 137, poll: 50, tasks: 1000, tellsChanges: true, distance: 0 },
    tasks: [{ id: 't0', at: 1212, ops: [{ do: 'step', action: 'mail', order: {}, rescue: 'compensate' }] }],
    moves: [],
    chaos: 4000,
    hurts: [
      { at: 3197, kind: 'cut', node: 2, ms: 195 },
      { at: 1197, kind: 'freeze', node: 1, ms: 820 },
      { at: 3733, kind: 'restart', node: 0, ms: 412 },
      { at: 17, kind: 'cut', node: 2, ms: 160 },
    ],
    calls: { unheard: 0.03, slow: 0.03, 'crash-after': 0.006 },
    strike: null,
    wire: {
      processes: 2,
      share: { lost: 0, twice: 0.2, slow: 0, halfOpen: 0 },
      hurts: [
        { at: 1618, process: 0, kind: 'freeze', ms: 1743 },
        { at: 3875, process: 1, kind: 'leave', ms: 2338 },
      ],
      sockets: [false, true],
    },
  }),
  'an attempt that was answered to another server, and was given once more by the one that had not heard of it':
    calmPlan({
      seed: 305,
      nodes: [
        { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
        { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
      ],
      settings: { lease: 1429, sweep: 287, poll: 100, tasks: 1000, tellsChanges: true, distance: 5 },
      tasks: [
        {
          id: 't0',
          at: 400,
          ops: [
            {
              do: 'all',
              of: [
                [{ do: 'step', action: 'refuse', order: { slow: 88, permanent: true } }],
                [{ do: 'step', action: 'tell', order: { slow: 149 } }],
              ],
            },
            { do: 'event' },
          ],
        },
        { id: 't1', at: 936, ops: [{ do: 'event' }] },
        {
          id: 't2',
          at: 180,
          ops: [],
          parts: [
            { do: 'step', action: 'dock', order: { fails: 2, slow: 63, undoFails: 2, wary: true }, refers: [] },
            { do: 'step', action: 'build', order: { fails: 1, slow: 108 }, rescue: 'compensate' },
          ],
          twice: true,
        },
      ],
      moves: [],
      chaos: 4000,
      hurts: [{ at: 2543, kind: 'crash', node: 0, ms: 2691 }],
      calls: { busy: 0.03, unheard: 0.03 },
      strike: null,
      wire: {
        processes: 2,
        share: { lost: 0.05, twice: 0.2, slow: 0.05, halfOpen: 0 },
        hurts: [
          { at: 1263, process: 1, kind: 'freeze', ms: 2111 },
          { at: 3437, process: 1, kind: 'leave', ms: 1768 },
          { at: 3218, process: 1, kind: 'crash', ms: 1312 },
        ],
        sockets: [false, true],
      },
    }),
  'a server that was gone before it answered a hello, for which an agent waited for ever': calmPlan({
    seed: 712,
    nodes: [
      { roles: ['scheduler'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['supervisor'], skew: 0 },
      { roles: ['scheduler'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['supervisor'], skew: 0 },
    ],
    settings: { lease: 734, sweep: 374, poll: 50, tasks: 1000, tellsChanges: true, distance: 0 },
    tasks: [
      {
        id: 't0',
        at: 736,
        ops: [],
        parts: [
          { do: 'step', action: 'refuse', rescue: 'skip' },
          { do: 'step', action: 'tell', refers: [0, 0], follows: [0] },
          { do: 'step', action: 'tell' },
        ],
        exclusive: { key: 'crane', ifHeld: 'replace' },
      },
      {
        id: 't1',
        at: 1264,
        ops: [],
        parts: [
          { do: 'step', action: 'ship' },
          { do: 'step', action: 'reserve' },
          { do: 'step', action: 'mail', order: { slow: 36 } },
          { do: 'step', action: 'mail' },
          { do: 'step', action: 'charge' },
          { do: 'step', action: 'refuse', order: {} },
        ],
        startAt: 181,
        startBefore: 1098,
      },
      {
        id: 't2',
        at: 675,
        ops: [],
        parts: [{ do: 'step', action: 'tell', order: { slow: 39 }, refers: [] }],
        after: [{ task: 't1', on: 'end' }],
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [],
    calls: { unheard: 0.1, twice: 0.1, slow: 0.1, 'crash-before': 0.02 },
    strike: null,
    wire: { processes: 1, share: { lost: 0, twice: 0, slow: 0, halfOpen: 0 }, hurts: [], sockets: [true] },
  }),
  'an attempt that went on for another server after its complete-by, and was taken for never begun': calmPlan({
    seed: 1649,
    nodes: [
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: { lease: 1689, sweep: 308, poll: 20, tasks: 1000, tellsChanges: true, distance: 40 },
    tasks: [
      {
        id: 't0',
        at: 625,
        ops: [
          { do: 'local', order: { slow: 96, undoFails: 2, permanent: false } },
          { do: 'step', action: 'reserve', order: { slow: 93, hangs: 1, undoFails: 2 }, rescue: 'skip' },
        ],
      },
      {
        id: 't1',
        at: 467,
        ops: [
          { do: 'step', action: 'ship', order: { slow: 44, hangs: 1, undoFails: 1 } },
          { do: 'event', timeout: 124 },
        ],
      },
      {
        id: 't2',
        at: 783,
        ops: [
          { do: 'step', action: 'charge', order: { slow: 48, hangs: 1 } },
          { do: 'event', timeout: 390 },
          { do: 'fail' },
        ],
        completeBy: 3099,
      },
    ],
    moves: [{ at: 3288, kind: 'retry', task: 0 }],
    chaos: 4000,
    hurts: [],
    calls: { busy: 0.03, 'crash-before': 0.006, 'crash-after': 0.006 },
    strike: null,
    wire: { processes: 1, share: { lost: 0, twice: 0, slow: 0, halfOpen: 0 }, hurts: [], sockets: [true] },
  }),
  'an attempt elsewhere whose server stopped after its complete-by, and of which nobody said that it was over':
    calmPlan({
      seed: 777_173,
      nodes: [
        {
          roles: ['scheduler', 'agent', 'supervisor'],
          skew: 0,
          limits: { history: 39, historyBytes: 2105, inbox: 4, inboxBytes: 288, fanOut: 2, memory: 8420 },
        },
      ],
      settings: { lease: 1115, sweep: 377, poll: 20, tasks: 1000, tellsChanges: true, distance: 0, throws: true },
      tasks: [
        { id: 't0', at: 465, ops: [{ do: 'event', timeout: 365 }], startAt: 1040 },
        {
          id: 't1',
          at: 190,
          ops: [
            { do: 'step', action: 'charge', order: {} },
            {
              do: 'call',
              ops: [
                { do: 'step', action: 'reserve', order: {}, rescue: 'compensate', stepWithin: 277 },
                { do: 'undo' },
                {
                  do: 'call',
                  ops: [
                    { do: 'step', action: 'refuse', order: {} },
                    { do: 'step', action: 'ship', order: { slow: 43 } },
                    { do: 'sleep', ms: 194 },
                    {
                      do: 'either',
                      of: [
                        [
                          { do: 'step', action: 'mail', order: { slow: 126 } },
                          { do: 'step', action: 'tell', order: { slow: 45, undoFails: 2 }, rescue: 'pause' },
                          { do: 'dock', order: { undoFails: 2, waits: 86, wary: true } },
                        ],
                        [
                          { do: 'step', action: 'charge', order: { fails: 2, permanent: true, undoFails: 1 } },
                          { do: 'step', action: 'travel', order: { fails: 2 } },
                          { do: 'step', action: 'tell', order: {} },
                        ],
                      ],
                    },
                  ],
                  undo: true,
                  onCancel: 'cancel',
                },
                {
                  do: 'race',
                  of: [
                    [
                      { do: 'step', action: 'ship', order: {} },
                      {
                        do: 'start',
                        ops: [],
                        parts: [
                          { do: 'step', action: 'charge', order: {}, refers: [] },
                          { do: 'step', action: 'build', order: {} },
                          { do: 'step', action: 'travel', order: {}, follows: [1, 0] },
                        ],
                        undo: true,
                        onCancel: 'cancel',
                      },
                      { do: 'step', action: 'refuse', order: { undoFails: 1 } },
                      {
                        do: 'all',
                        of: [
                          [
                            { do: 'step', action: 'ship', order: { slow: 8, undoFails: 2 } },
                            { do: 'step', action: 'charge', order: { undoFails: 2 } },
                          ],
                          [{ do: 'undo' }, { do: 'dock', order: { wary: true } }],
                          [{ do: 'step', action: 'charge', order: { hangs: 1, undoFails: 2 }, rescue: 'fail' }],
                        ],
                      },
                    ],
                    [
                      {
                        do: 'call',
                        ops: [
                          { do: 'sleep', ms: 6 },
                          { do: 'step', action: 'mail', order: { slow: 23, hangs: 1, undoFails: 1 } },
                          { do: 'event', timeout: 147 },
                          { do: 'step', action: 'tell', order: { fails: 2 }, rescue: 'compensate' },
                        ],
                        undo: true,
                        onCancel: 'detach',
                      },
                    ],
                    [
                      { do: 'step', action: 'reserve', order: {} },
                      { do: 'dock', order: { rings: 8 } },
                      { do: 'step', action: 'mail', order: { slow: 0 } },
                      { do: 'event', timeout: 328 },
                    ],
                  ],
                },
              ],
              undo: true,
              onCancel: 'cancel',
            },
          ],
          startAt: 673,
        },
        {
          id: 't2',
          at: 339,
          ops: [
            { do: 'step', action: 'tell', order: { slow: 23, hangs: 1, undoFails: 2 }, rescue: 'compensate' },
            {
              do: 'settled',
              of: [
                [
                  { do: 'step', action: 'refuse', order: {} },
                  { do: 'progress' },
                  {
                    do: 'settled',
                    of: [
                      [
                        {
                          do: 'race',
                          of: [
                            [
                              { do: 'dock', order: { slow: 147, hangs: 1, waits: 311 } },
                              { do: 'step', action: 'charge', order: { permanent: true } },
                              { do: 'step', action: 'reserve', order: { permanent: true } },
                              { do: 'step', action: 'reserve', order: { undoFails: 1 }, rescue: 'skip' },
                            ],
                            [
                              { do: 'step', action: 'reserve', order: { slow: 63, undoFails: 2 }, rescue: 'pause' },
                              { do: 'dock', order: { fails: 2, waits: 153 } },
                              { do: 'sleep', ms: 276 },
                            ],
                            [
                              { do: 'patched' },
                              { do: 'step', action: 'mail', order: { slow: 88 } },
                              { do: 'step', action: 'charge', order: { fails: 1, undoFails: 1 }, rescue: 'fail' },
                            ],
                          ],
                        },
                        { do: 'step', action: 'refuse', order: { undoFails: 1 }, stepWithin: 298 },
                      ],
                      [
                        { do: 'event' },
                        {
                          do: 'start',
                          ops: [
                            { do: 'dock', order: { slow: 62, waits: 161, rings: 81, wary: true } },
                            { do: 'step', action: 'reserve', order: {} },
                          ],
                          undo: true,
                          onCancel: 'cancel',
                        },
                        {
                          do: 'settled',
                          of: [
                            [
                              { do: 'step', action: 'reserve', order: { fails: 1 } },
                              { do: 'sleep', ms: 111 },
                              { do: 'step', action: 'ship', order: { slow: 5 } },
                            ],
                            [
                              { do: 'step', action: 'mail', order: {} },
                              { do: 'step', action: 'travel', order: { hangs: 1, permanent: true }, rescue: 'pause' },
                              { do: 'step', action: 'reserve', order: {} },
                              { do: 'step', action: 'charge', order: { slow: 53 } },
                            ],
                            [{ do: 'local', order: { undoFails: 2, permanent: false } }, { do: 'event' }],
                          ],
                        },
                      ],
                    ],
                  },
                  {
                    do: 'call',
                    ops: [
                      { do: 'step', action: 'tell', order: { slow: 4, permanent: true } },
                      { do: 'step', action: 'refuse', order: {}, rescue: 'compensate' },
                    ],
                    undo: true,
                    onCancel: 'detach',
                  },
                ],
                [
                  {
                    do: 'call',
                    ops: [
                      { do: 'step', action: 'ship', order: { undoFails: 1 } },
                      { do: 'event', timeout: 254 },
                      { do: 'event', timeout: 327 },
                    ],
                    undo: true,
                    onCancel: 'cancel',
                  },
                  {
                    do: 'start',
                    ops: [
                      { do: 'step', action: 'tell', order: { fails: 1 } },
                      { do: 'undo' },
                      {
                        do: 'call',
                        ops: [
                          { do: 'sleep', ms: 166 },
                          { do: 'step', action: 'reserve', order: { slow: 79, hangs: 1 }, rescue: 'compensate' },
                        ],
                        undo: false,
                        onCancel: 'wait',
                      },
                    ],
                    undo: false,
                    onCancel: 'cancel',
                  },
                ],
                [{ do: 'dock', order: { hangs: 1, undoFails: 1, waits: 370 } }],
              ],
            },
            { do: 'picky' },
            { do: 'picky' },
          ],
          completeBy: 3810,
        },
        {
          id: 't3',
          at: 1080,
          ops: [
            {
              do: 'all',
              of: [
                [
                  {
                    do: 'call',
                    ops: [{ do: 'step', action: 'tell', order: { fails: 2, slow: 83 } }, { do: 'undo' }],
                    undo: false,
                    onCancel: 'wait',
                  },
                  { do: 'event', timeout: 399 },
                  { do: 'step', action: 'ship', order: {} },
                  { do: 'event', timeout: 399 },
                ],
                [
                  {
                    do: 'race',
                    of: [
                      [
                        {
                          do: 'settled',
                          of: [
                            [
                              { do: 'undo' },
                              { do: 'step', action: 'charge', order: { undoFails: 2 } },
                              { do: 'sleep', ms: 7632 },
                            ],
                            [{ do: 'dock', order: { hangs: 1, undoFails: 2 } }],
                          ],
                        },
                        { do: 'step', action: 'charge', order: { slow: 44, undoFails: 1 } },
                        { do: 'step', action: 'charge', order: { fails: 1, hangs: 1 }, rescue: 'skip' },
                        { do: 'step', action: 'mail', order: {} },
                      ],
                      [
                        { do: 'patched' },
                        {
                          do: 'race',
                          of: [
                            [
                              { do: 'event' },
                              { do: 'step', action: 'refuse', order: { undoFails: 1 } },
                              { do: 'step', action: 'travel', order: { undoFails: 2 }, rescue: 'compensate' },
                            ],
                            [
                              { do: 'step', action: 'ship', order: { fails: 2 }, rescue: 'pause', stepWithin: 521 },
                              { do: 'local', order: { undoFails: 1, permanent: false } },
                            ],
                            [{ do: 'local', order: { slow: 112, permanent: false } }],
                          ],
                        },
                      ],
                      [{ do: 'progress' }],
                    ],
                  },
                  { do: 'call', ops: [{ do: 'undo' }], undo: true, onCancel: 'cancel' },
                ],
                [
                  { do: 'step', action: 'tell', order: {} },
                  {
                    do: 'start',
                    ops: [
                      {
                        do: 'all',
                        of: [
                          [{ do: 'patched' }, { do: 'event', timeout: 290 }],
                          [
                            { do: 'step', action: 'reserve', order: {} },
                            { do: 'undo' },
                            { do: 'local', order: { slow: 57, permanent: false } },
                          ],
                          [{ do: 'step', action: 'mail', order: { slow: 19 } }],
                        ],
                      },
                      {
                        do: 'settled',
                        of: [
                          [
                            { do: 'sleep', ms: 6539 },
                            { do: 'event', timeout: 10 },
                            { do: 'event', timeout: 200 },
                          ],
                          [
                            { do: 'step', action: 'tell', order: { fails: 1 } },
                            { do: 'step', action: 'mail', order: { fails: 1 } },
                            { do: 'event', timeout: 255 },
                          ],
                        ],
                      },
                      { do: 'step', action: 'travel', order: { undoFails: 1 } },
                    ],
                    undo: true,
                    onCancel: 'cancel',
                  },
                ],
              ],
            },
            { do: 'step', action: 'reserve', order: { slow: 55 } },
            { do: 'anew' },
          ],
        },
      ],
      moves: [],
      chaos: 4000,
      hurts: [
        { at: 427, kind: 'restart', node: 0, ms: 237 },
        { at: 3483, kind: 'restart', node: 0, ms: 458 },
        { at: 2557, kind: 'freeze', node: 0, ms: 2595 },
        { at: 3929, kind: 'freeze', node: 0, ms: 790 },
        { at: 2245, kind: 'freeze', node: 0, ms: 191 },
        { at: 2772, kind: 'freeze', node: 0, ms: 188 },
      ],
      calls: { refused: 0.1, unheard: 0.1, slow: 0.1 },
      strike: null,
      schedules: [
        {
          name: 's0',
          at: 291,
          every: 1952,
          from: 596,
          overlap: 'queue',
          limit: 4,
          jitter: 0,
          ops: [
            { do: 'step', action: 'reserve', order: { undoFails: 1 }, rescue: 'compensate' },
            {
              do: 'either',
              of: [
                [
                  { do: 'step', action: 'travel', order: { slow: 131 } },
                  { do: 'dock', order: { permanent: true, rings: 296 } },
                  { do: 'step', action: 'refuse', order: { slow: 12 }, rescue: 'fail' },
                  { do: 'event', timeout: 282 },
                ],
                [
                  { do: 'dock', order: { fails: 2, slow: 130, wary: true } },
                  { do: 'progress' },
                  { do: 'event', timeout: 314 },
                  { do: 'local', order: { slow: 140, permanent: false } },
                ],
                [
                  { do: 'dock', order: { hangs: 1, undoFails: 1 } },
                  { do: 'step', action: 'reserve', order: {}, rescue: 'pause' },
                  { do: 'undo' },
                  { do: 'step', action: 'refuse', order: {} },
                ],
              ],
            },
          ],
        },
        {
          name: 's1',
          at: 184,
          every: 1881,
          from: 1526,
          overlap: 'skip',
          limit: 4,
          jitter: 155,
          ops: [
            {
              do: 'start',
              ops: [
                { do: 'step', action: 'ship', order: { hangs: 1 } },
                { do: 'step', action: 'charge', order: {} },
                { do: 'event', timeout: 345 },
              ],
              undo: false,
              onCancel: 'cancel',
            },
            { do: 'step', action: 'mail', order: { undoFails: 1 } },
          ],
        },
      ],
      wire: {
        processes: 2,
        share: { lost: 0, twice: 0, slow: 0, halfOpen: 0 },
        hurts: [
          { at: 2802, process: 0, kind: 'freeze', ms: 77 },
          { at: 2143, process: 0, kind: 'leave', ms: 667 },
          { at: 3720, process: 0, kind: 'freeze', ms: 2455 },
          { at: 135, process: 0, kind: 'cut', ms: 804 },
          { at: 551, process: 0, kind: 'crash', ms: 902 },
        ],
        sockets: [false, false],
      },
    }),
  'a plan of a task that has long to be done, taken up again': calmPlan({
    seed: 4222,
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { skew: 0, roles: ['agent'] },
    ],
    settings: { lease: 941, sweep: 246, poll: 50, tasks: 1000, tellsChanges: false, distance: 0 },
    tasks: [
      {
        id: 't1',
        at: 434,
        ops: [],
        parts: [{ do: 'step', action: 'build' }],
        startAt: 566,
        priority: 1,
        completeBy: 3_600_000,
      },
    ],
    chaos: 4000,
    outside: true,
  }),
  'a task that its node lets go of, to which a reply came before': calmPlan({
    seed: 20_917,
    nodes: [{ roles: ['scheduler', 'agent', 'supervisor'], skew: 0 }],
    settings: { lease: 800, sweep: 369, poll: 20, tasks: 1000, tellsChanges: false, distance: 0 },
    tasks: [
      {
        id: 't0',
        at: 413,
        ops: [
          { do: 'step', action: 'charge', order: {} },
          {
            do: 'race',
            of: [
              [
                {
                  do: 'all',
                  of: [
                    [
                      { do: 'local', order: { slow: 88, undoFails: 2, permanent: false } },
                      { do: 'step', action: 'reserve', order: {} },
                      { do: 'step', action: 'refuse', order: {} },
                    ],
                    [
                      {
                        do: 'all',
                        of: [
                          [{ do: 'step', action: 'refuse', order: { slow: 8, undoFails: 1 }, rescue: 'compensate' }],
                          [{ do: 'step', action: 'charge', order: { fails: 1, slow: 133 } }],
                          [{ do: 'undo' }, { do: 'step', action: 'mail', order: { fails: 2 } }],
                        ],
                      },
                    ],
                  ],
                },
              ],
              [
                { do: 'step', action: 'reserve', order: {} },
                { do: 'sleep', ms: 215 },
                {
                  do: 'all',
                  of: [
                    [
                      {
                        do: 'either',
                        of: [
                          [{ do: 'patched' }],
                          [
                            { do: 'undo' },
                            { do: 'fail' },
                            { do: 'dock', order: { slow: 29, rings: 150 } },
                            { do: 'event', timeout: 103 },
                          ],
                          [{ do: 'step', action: 'ship', order: {} }],
                        ],
                      },
                    ],
                    [
                      { do: 'step', action: 'travel', order: { slow: 75, undoFails: 1 } },
                      {
                        do: 'start',
                        ops: [
                          { do: 'sleep', ms: 170 },
                          { do: 'step', action: 'refuse', order: { slow: 97 } },
                          { do: 'dock', order: { slow: 86, wary: true } },
                        ],
                        undo: true,
                        onCancel: 'wait',
                      },
                      { do: 'patched' },
                    ],
                  ],
                },
              ],
            ],
          },
          {
            do: 'either',
            of: [
              [{ do: 'step', action: 'charge', order: { undoFails: 1 } }],
              [
                { do: 'patched' },
                { do: 'dock', order: {} },
                {
                  do: 'all',
                  of: [
                    [
                      { do: 'step', action: 'charge', order: {}, rescue: 'skip' },
                      { do: 'step', action: 'tell', order: { slow: 84 } },
                      { do: 'undo' },
                      { do: 'event', timeout: 34 },
                    ],
                    [
                      { do: 'step', action: 'reserve', order: { slow: 91, hangs: 1, undoFails: 1 }, rescue: 'pause' },
                      {
                        do: 'either',
                        of: [
                          [
                            { do: 'step', action: 'reserve', order: { fails: 2, undoFails: 2 } },
                            { do: 'step', action: 'travel', order: {} },
                          ],
                          [{ do: 'step', action: 'charge', order: {}, rescue: 'compensate' }],
                          [
                            { do: 'dock', order: { wary: true } },
                            { do: 'fail' },
                            { do: 'dock', order: { slow: 85, undoFails: 2 } },
                            { do: 'event', timeout: 254 },
                          ],
                        ],
                      },
                      {
                        do: 'call',
                        ops: [],
                        parts: [
                          { do: 'step', action: 'charge', order: {}, refers: [], follows: [] },
                          {
                            do: 'sequence',
                            of: [
                              { do: 'sequence', of: [{ do: 'step', action: 'mail', order: {}, refers: [0] }] },
                              { do: 'step', action: 'refuse', order: {} },
                              { do: 'step', action: 'tell', order: { undoFails: 1 }, refers: [0, 1], rescue: 'skip' },
                            ],
                          },
                          { do: 'step', action: 'ship', order: { undoFails: 2 } },
                          { do: 'step', action: 'charge', order: { undoFails: 1 } },
                        ],
                        undo: true,
                        onCancel: 'cancel',
                      },
                    ],
                  ],
                },
                {
                  do: 'race',
                  of: [
                    [{ do: 'undo' }],
                    [
                      { do: 'step', action: 'tell', order: { fails: 2, slow: 31 } },
                      { do: 'step', action: 'travel', order: { slow: 130, hangs: 1 }, rescue: 'skip' },
                    ],
                  ],
                },
              ],
            ],
          },
        ],
      },
    ],
    chaos: 4000,
    hurts: [
      { at: 243, kind: 'freeze', node: 0, ms: 207 },
      { at: 3591, kind: 'freeze', node: 0, ms: 82 },
    ],
    calls: { refused: 0.1, unheard: 0.1 },
  }),
  'a task that its node lets go of, and a request that followed one that was withdrawn': calmPlan({
    seed: 22_716,
    nodes: [
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: { lease: 1284, sweep: 192, poll: 20, tasks: 1000, tellsChanges: true, distance: 0 },
    tasks: [
      { id: 't0', at: 877, ops: [{ do: 'step', action: 'tell', order: { slow: 61 } }] },
      {
        id: 't1',
        at: 428,
        ops: [{ do: 'event' }, { do: 'step', action: 'charge', order: { fails: 2, slow: 135, undoFails: 2 } }],
      },
      {
        id: 't2',
        at: 519,
        ops: [
          {
            do: 'settled',
            of: [
              [
                { do: 'event' },
                {
                  do: 'try',
                  ops: [
                    { do: 'call', ops: [{ do: 'sleep', ms: 188 }, { do: 'patched' }], undo: true, onCancel: 'cancel' },
                    { do: 'step', action: 'travel', order: {} },
                    { do: 'step', action: 'charge', order: { fails: 1 }, stepWithin: 225 },
                  ],
                },
                { do: 'step', action: 'charge', order: { fails: 2, hangs: 1 } },
                { do: 'step', action: 'mail', order: {} },
              ],
              [{ do: 'local', order: { slow: 48, undoFails: 1, permanent: false } }],
            ],
          },
          {
            do: 'call',
            ops: [{ do: 'step', action: 'reserve', order: { fails: 2, slow: 76 } }],
            undo: true,
            onCancel: 'wait',
          },
          {
            do: 'call',
            ops: [
              { do: 'step', action: 'refuse', order: { slow: 140 } },
              { do: 'step', action: 'reserve', order: {} },
              {
                do: 'all',
                of: [
                  [
                    { do: 'step', action: 'reserve', order: {} },
                    { do: 'fail' },
                    {
                      do: 'all',
                      of: [
                        [
                          { do: 'step', action: 'tell', order: {} },
                          { do: 'step', action: 'ship', order: { slow: 7, undoFails: 1 } },
                        ],
                        [
                          { do: 'event', timeout: 34 },
                          { do: 'step', action: 'ship', order: {} },
                          { do: 'event', timeout: 270 },
                          { do: 'step', action: 'reserve', order: {} },
                        ],
                        [
                          { do: 'event', timeout: 65 },
                          { do: 'local', order: { slow: 68, permanent: false } },
                        ],
                      ],
                    },
                  ],
                  [
                    {
                      do: 'call',
                      ops: [
                        { do: 'step', action: 'refuse', order: { undoFails: 1 }, rescue: 'compensate' },
                        { do: 'step', action: 'tell', order: { undoFails: 1 }, rescue: 'pause' },
                      ],
                      undo: false,
                      onCancel: 'wait',
                    },
                    { do: 'step', action: 'reserve', order: { undoFails: 1 }, rescue: 'pause' },
                    { do: 'step', action: 'travel', order: { undoFails: 1 }, rescue: 'compensate' },
                    { do: 'step', action: 'refuse', order: { slow: 45 } },
                  ],
                  [
                    {
                      do: 'all',
                      of: [
                        [
                          { do: 'step', action: 'tell', order: {} },
                          { do: 'step', action: 'tell', order: { permanent: true }, rescue: 'compensate' },
                          { do: 'dock', order: { fails: 2, rings: 186, wary: true } },
                          { do: 'dock', order: {} },
                        ],
                        [
                          { do: 'step', action: 'tell', order: { slow: 64, undoFails: 2 } },
                          { do: 'local', order: { permanent: false } },
                          { do: 'step', action: 'charge', order: { undoFails: 2 }, rescue: 'fail' },
                          { do: 'undo' },
                        ],
                      ],
                    },
                  ],
                ],
              },
              {
                do: 'all',
                of: [
                  [
                    { do: 'step', action: 'mail', order: { undoFails: 2 }, rescue: 'pause' },
                    {
                      do: 'settled',
                      of: [
                        [{ do: 'sleep', ms: 77 }],
                        [
                          { do: 'event', timeout: 262 },
                          { do: 'fail' },
                          { do: 'step', action: 'charge', order: { fails: 1, slow: 95 } },
                          { do: 'sleep', ms: 115 },
                        ],
                      ],
                    },
                    { do: 'step', action: 'reserve', order: { fails: 1 } },
                    { do: 'step', action: 'charge', order: { undoFails: 2 } },
                  ],
                  [
                    { do: 'fail' },
                    { do: 'step', action: 'charge', order: { hangs: 1 } },
                    { do: 'step', action: 'reserve', order: { slow: 18, undoFails: 2 } },
                  ],
                  [
                    { do: 'event', timeout: 368 },
                    { do: 'step', action: 'travel', order: { slow: 64 } },
                    {
                      do: 'try',
                      ops: [
                        { do: 'step', action: 'travel', order: { slow: 146 }, rescue: 'skip' },
                        { do: 'undo' },
                        { do: 'step', action: 'ship', order: { undoFails: 2 } },
                      ],
                    },
                    {
                      do: 'try',
                      ops: [
                        { do: 'step', action: 'mail', order: { slow: 71 } },
                        { do: 'step', action: 'reserve', order: { undoFails: 1 }, rescue: 'compensate' },
                        { do: 'dock', order: { slow: 79, undoFails: 1, rings: 58, wary: true } },
                      ],
                    },
                  ],
                ],
              },
            ],
            undo: false,
            onCancel: 'wait',
          },
          { do: 'transaction', undo: true },
          { do: 'transaction' },
          { do: 'transaction' },
          { do: 'anew' },
        ],
        completeBy: 1933,
      },
      {
        id: 't3',
        at: 816,
        ops: [],
        parts: [
          { do: 'step', action: 'charge', order: { fails: 1, slow: 59 }, refers: [], follows: [] },
          {
            do: 'sequence',
            of: [
              { do: 'step', action: 'dock', order: { slow: 138, undoFails: 2 } },
              { do: 'step', action: 'refuse', order: { slow: 41 }, rescue: 'compensate' },
              { do: 'step', action: 'reserve', order: { undoFails: 1 }, rescue: 'compensate' },
              {
                do: 'step',
                action: 'refuse',
                order: { permanent: true, undoFails: 1 },
                refers: [3, 3],
                rescue: 'fail',
              },
            ],
          },
        ],
      },
      {
        id: 't4',
        at: 1271,
        ops: [
          { do: 'step', action: 'charge', order: { slow: 107 } },
          { do: 'transaction' },
          { do: 'transaction', undo: true },
          { do: 'transaction', slow: 12, undo: true },
        ],
      },
    ],
    moves: [
      { at: 3795, kind: 'force', task: 4 },
      { at: 949, kind: 'compensate', task: 4 },
      { at: 3617, kind: 'retry', task: 0 },
    ],
    chaos: 4000,
    hurts: [
      { at: 1849, kind: 'jump', node: 1, ms: -70_741 },
      { at: 2320, kind: 'jump', node: 1, ms: 64_880 },
      { at: 91, kind: 'jump', node: 1, ms: 73_794 },
    ],
    calls: { unheard: 0.1, twice: 0.1 },
  }),
  'a supervisor after a long time in which the store took no writes': calmPlan({
    seed: 10_596,
    nodes: [
      {
        roles: ['scheduler', 'agent', 'supervisor'],
        skew: 0,
        limits: { history: 34, historyBytes: 2147, inbox: 3, inboxBytes: 431, fanOut: 5, memory: 8588 },
      },
    ],
    settings: { lease: 1415, sweep: 261, poll: 20, tasks: 1000, tellsChanges: true, distance: 0 },
    tasks: [{ id: 't3', at: 256, ops: [], parts: [{ do: 'step', action: 'refuse' }] }],
    chaos: 28_361,
    schedules: [
      {
        name: 's1',
        at: 775,
        every: 618,
        from: 2191,
        overlap: 'cancel-previous',
        limit: 4,
        within: 111,
        jitter: 235,
        ops: [
          { do: 'try', ops: [{ do: 'local', order: { slow: 99, permanent: false } }] },
          { do: 'dock', order: { hangs: 1, rings: 265 } },
        ],
      },
    ],
    refusal: {
      kind: 'sqlite',
      patience: 890,
      spans: [
        { at: 2440, ms: 24_921 },
        { at: 3151, ms: 7269 },
      ],
      alone: true,
    },
  }),
  'a task that its node lets go of, and an attempt that answers by letter': calmPlan({
    seed: 12_706,
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['agent'], skew: 0 },
    ],
    settings: { lease: 1767, sweep: 190, poll: 50, tasks: 1000, tellsChanges: true, distance: 40, patience: 1228 },
    tasks: [
      {
        id: 't0',
        at: 934,
        ops: [
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
        ],
      },
      {
        id: 't1',
        at: 338,
        ops: [
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
          { do: 'step', action: 'charge', order: {} },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
          {
            do: 'settled',
            of: [
              [
                { do: 'step', action: 'refuse', order: { slow: 115 } },
                {
                  do: 'all',
                  of: [
                    [
                      { do: 'undo' },
                      {
                        do: 'race',
                        of: [[{ do: 'step', action: 'charge', order: { undoFails: 2 } }], [{ do: 'event' }]],
                      },
                      { do: 'step', action: 'tell', order: { hangs: 1 } },
                      {
                        do: 'call',
                        ops: [],
                        parts: [
                          { do: 'step', action: 'mail', order: {}, refers: [] },
                          {
                            do: 'sequence',
                            of: [
                              { do: 'sequence', of: [{ do: 'step', action: 'charge', order: {}, follows: [0] }] },
                              {
                                do: 'step',
                                action: 'dock',
                                order: { rings: 287 },
                                refers: [1, 0],
                                rescue: 'compensate',
                              },
                              {
                                do: 'concurrence',
                                of: [
                                  { do: 'step', action: 'charge', order: { fails: 1, slow: 99 }, refers: [1] },
                                  {
                                    do: 'step',
                                    action: 'charge',
                                    order: { undoFails: 1 },
                                    follows: [1, 3],
                                    rescue: 'fail',
                                  },
                                  { do: 'step', action: 'build', order: {}, refers: [4, 0], follows: [2, 1] },
                                  { do: 'step', action: 'reserve', order: { slow: 7 }, refers: [1] },
                                ],
                              },
                              { do: 'step', action: 'tell', order: {}, follows: [3] },
                            ],
                          },
                          {
                            do: 'concurrence',
                            of: [
                              { do: 'step', action: 'refuse', order: { slow: 69 } },
                              {
                                do: 'sequence',
                                of: [
                                  { do: 'step', action: 'reserve', order: { slow: 142 } },
                                  { do: 'step', action: 'reserve', order: { slow: 113, undoFails: 1 } },
                                ],
                              },
                              { do: 'step', action: 'charge', order: { fails: 1, slow: 11 }, refers: [1, 6] },
                            ],
                          },
                        ],
                        undo: true,
                        onCancel: 'cancel',
                      },
                    ],
                    [
                      {
                        do: 'try',
                        ops: [{ do: 'step', action: 'tell', order: { slow: 74 }, stepWithin: 189 }, { do: 'undo' }],
                      },
                    ],
                    [
                      { do: 'dock', order: { undoFails: 1, waits: 366 } },
                      { do: 'call', ops: [{ do: 'undo' }, { do: 'sleep', ms: 277 }], undo: false, onCancel: 'detach' },
                    ],
                  ],
                },
              ],
              [
                {
                  do: 'call',
                  ops: [],
                  parts: [
                    { do: 'step', action: 'charge', order: { fails: 2, undoFails: 1 }, refers: [], rescue: 'fail' },
                    {
                      do: 'sequence',
                      of: [
                        {
                          do: 'concurrence',
                          of: [
                            { do: 'step', action: 'dock', order: { hangs: 1 }, follows: [0, 0] },
                            { do: 'step', action: 'charge', order: {} },
                            { do: 'step', action: 'mail', order: {}, rescue: 'compensate' },
                          ],
                        },
                        {
                          do: 'step',
                          action: 'tell',
                          order: { hangs: 1, undoFails: 1 },
                          follows: [1, 2],
                          rescue: 'compensate',
                        },
                      ],
                    },
                    { do: 'step', action: 'charge', order: {} },
                    { do: 'step', action: 'travel', order: { slow: 14, undoFails: 2 }, refers: [2, 3], follows: [4] },
                  ],
                  undo: false,
                  onCancel: 'wait',
                },
                { do: 'undo' },
                {
                  do: 'either',
                  of: [
                    [{ do: 'patched' }, { do: 'step', action: 'tell', order: { slow: 115 } }],
                    [{ do: 'dock', order: { hangs: 1, undoFails: 1 } }],
                    [
                      { do: 'event' },
                      { do: 'step', action: 'mail', order: { fails: 1 } },
                      {
                        do: 'try',
                        ops: [
                          { do: 'local', order: { hangs: 1, permanent: false } },
                          { do: 'step', action: 'charge', order: { permanent: true, undoFails: 1 } },
                          { do: 'step', action: 'mail', order: { hangs: 1 } },
                        ],
                      },
                    ],
                  ],
                },
              ],
              [
                {
                  do: 'try',
                  ops: [
                    {
                      do: 'race',
                      of: [
                        [
                          { do: 'step', action: 'tell', order: { slow: 90 } },
                          { do: 'event', timeout: 293 },
                        ],
                        [
                          { do: 'dock', order: { rings: 297 } },
                          { do: 'dock', order: { slow: 100 } },
                          { do: 'step', action: 'ship', order: { slow: 70 } },
                          { do: 'step', action: 'tell', order: {}, rescue: 'compensate' },
                        ],
                      ],
                    },
                    { do: 'undo' },
                  ],
                },
                {
                  do: 'try',
                  ops: [
                    { do: 'fail' },
                    { do: 'step', action: 'mail', order: { fails: 2, slow: 141 }, rescue: 'fail' },
                    { do: 'step', action: 'reserve', order: { fails: 2, slow: 11 } },
                  ],
                },
                { do: 'event' },
                { do: 'event' },
              ],
            ],
          },
          {
            do: 'call',
            ops: [],
            parts: [
              { do: 'step', action: 'reserve', order: { undoFails: 2 }, refers: [], rescue: 'pause' },
              {
                do: 'concurrence',
                of: [
                  {
                    do: 'step',
                    action: 'ship',
                    order: { slow: 20, permanent: true, undoFails: 1 },
                    refers: [0],
                    rescue: 'compensate',
                  },
                  {
                    do: 'sequence',
                    of: [
                      { do: 'step', action: 'charge', order: {}, refers: [1, 0] },
                      { do: 'step', action: 'build', order: { slow: 49 }, refers: [2], follows: [0], rescue: 'fail' },
                    ],
                  },
                  { do: 'step', action: 'refuse', order: { slow: 69, undoFails: 2 }, rescue: 'skip' },
                  { do: 'step', action: 'dock', order: { rings: 150, wary: true }, refers: [3, 0] },
                ],
              },
            ],
            undo: false,
            onCancel: 'cancel',
          },
        ],
      },
      {
        id: 't2',
        at: 680,
        ops: [
          {
            do: 'either',
            of: [
              [
                {
                  do: 'try',
                  ops: [
                    {
                      do: 'call',
                      ops: [],
                      parts: [
                        {
                          do: 'concurrence',
                          of: [
                            { do: 'step', action: 'dock', order: { fails: 2, undoFails: 2 } },
                            { do: 'step', action: 'travel', order: { undoFails: 2 }, refers: [0, 0] },
                          ],
                        },
                      ],
                      undo: true,
                      onCancel: 'detach',
                    },
                    { do: 'sleep', ms: 5951 },
                    {
                      do: 'call',
                      ops: [
                        { do: 'step', action: 'tell', order: { fails: 1 } },
                        { do: 'sleep', ms: 116 },
                        { do: 'step', action: 'ship', order: { undoFails: 1 } },
                        { do: 'undo' },
                      ],
                      undo: false,
                      onCancel: 'detach',
                    },
                  ],
                },
                {
                  do: 'start',
                  ops: [],
                  parts: [
                    { do: 'step', action: 'mail', order: { slow: 111 }, rescue: 'pause' },
                    {
                      do: 'step',
                      action: 'build',
                      order: { permanent: true, undoFails: 1 },
                      follows: [0, 0],
                      rescue: 'fail',
                    },
                    { do: 'step', action: 'reserve', order: { undoFails: 2 } },
                    { do: 'step', action: 'dock', order: { slow: 64 } },
                  ],
                  undo: true,
                  onCancel: 'cancel',
                },
                {
                  do: 'either',
                  of: [
                    [
                      { do: 'local', order: { permanent: false } },
                      { do: 'event' },
                      {
                        do: 'call',
                        ops: [
                          { do: 'event', timeout: 386 },
                          { do: 'step', action: 'reserve', order: { undoFails: 1 } },
                          { do: 'event', timeout: 93 },
                          { do: 'sleep', ms: 5232 },
                        ],
                        undo: false,
                        onCancel: 'cancel',
                      },
                      { do: 'call', ops: [{ do: 'fail' }], undo: true, onCancel: 'wait' },
                    ],
                    [
                      { do: 'sleep', ms: 161 },
                      { do: 'undo' },
                      { do: 'step', action: 'reserve', order: { fails: 1, permanent: true } },
                    ],
                  ],
                },
                { do: 'undo' },
              ],
              [
                {
                  do: 'settled',
                  of: [
                    [
                      {
                        do: 'settled',
                        of: [
                          [
                            { do: 'undo' },
                            { do: 'step', action: 'reserve', order: { slow: 36 } },
                            { do: 'local', order: { permanent: false } },
                            { do: 'event', timeout: 14 },
                          ],
                          [
                            { do: 'step', action: 'reserve', order: {}, stepWithin: 124 },
                            { do: 'step', action: 'travel', order: { fails: 1, undoFails: 1 } },
                          ],
                        ],
                      },
                    ],
                    [
                      { do: 'undo' },
                      {
                        do: 'all',
                        of: [
                          [{ do: 'step', action: 'reserve', order: { fails: 1 } }, { do: 'undo' }],
                          [{ do: 'dock', order: { rings: 270 } }, { do: 'undo' }],
                          [{ do: 'step', action: 'reserve', order: {} }, { do: 'patched' }, { do: 'sleep', ms: 50 }],
                        ],
                      },
                      { do: 'progress' },
                      { do: 'progress' },
                    ],
                  ],
                },
              ],
              [{ do: 'event', timeout: 134 }, { do: 'undo' }, { do: 'progress' }],
            ],
          },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
          { do: 'step', action: 'tell', order: { hangs: 1 } },
          { do: 'step', action: 'charge', order: { slow: 5, hangs: 1 }, stepWithin: 278 },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
        ],
      },
      {
        id: 't3',
        at: 151,
        ops: [
          { do: 'sleep', ms: 173 },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
            ],
          },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
        ],
      },
      {
        id: 't4',
        at: 647,
        ops: [
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
            ],
          },
          { do: 'step', action: 'mail', order: {} },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
            ],
          },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
            ],
          },
        ],
      },
    ],
    chaos: 4000,
    calls: { refused: 0.03, busy: 0.03, unheard: 0.03, unanswered: 0.003 },
    direct: { share: { lost: 0, slow: 0, halfOpen: 0 }, hurts: [] },
  }),
  // The request of the second attempt, which is in no record, is lost. Its task makes room for others before that is noticed.
  'a store that forgets a request whose task leaves memory': calmPlan({
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { roles: ['agent'], skew: 0 },
    ],
    settings: { lease: 1000, sweep: 200, poll: 20, tasks: 2, tellsChanges: true, distance: 0 },
    tasks: [
      { id: 'a', at: 0, ops: [{ do: 'step', action: 'reserve', order: { fails: 1, slow: 300 } }] },
      { id: 'b', at: 150, ops: [{ do: 'step', action: 'charge', order: { slow: 120 } }] },
      { id: 'c', at: 150, ops: [{ do: 'step', action: 'charge', order: { slow: 120 } }] },
    ],
    loss: { at: 70, last: 40 },
    chaos: 1000,
  }),
  'a store that forgets a request whose node stops in order before that is noticed': calmPlan({
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { roles: ['agent'], skew: 0 },
    ],
    settings: { lease: 1000, sweep: 200, poll: 20, tasks: 1000, tellsChanges: true, distance: 0 },
    tasks: [{ id: 'a', at: 0, ops: [{ do: 'step', action: 'reserve', order: { fails: 1, slow: 300 } }] }],
    hurts: [{ at: 100, kind: 'restart', node: 0, ms: 50 }],
    loss: { at: 85, last: 40 },
    chaos: 1000,
  }),
  'a node that hands on, while it stops, what a task that has stopped was told': calmPlan({
    seed: 40_684,
    nodes: [{ roles: ['scheduler', 'agent', 'supervisor'], skew: 0 }],
    settings: { lease: 1265, sweep: 299, poll: 20, tasks: 1000, tellsChanges: false, distance: 40 },
    tasks: [
      {
        id: 't0',
        at: 192,
        ops: [{ do: 'step', action: 'charge', order: {} }, { do: 'event', timeout: 57 }, { do: 'fail' }],
      },
      { id: 't1', at: 813, ops: [{ do: 'step', action: 'mail', order: {} }] },
      {
        id: 't2',
        at: 899,
        ops: [],
        parts: [
          {
            do: 'sequence',
            of: [
              { do: 'step', action: 'ship', order: {} },
              { do: 'step', action: 'travel', order: {} },
              { do: 'step', action: 'charge', order: { slow: 72, undoFails: 1 }, rescue: 'skip' },
              { do: 'step', action: 'travel', order: { slow: 28 }, refers: [2], rescue: 'skip' },
              { do: 'step', action: 'build', order: { fails: 1, slow: 135, undoFails: 2 }, refers: [1], follows: [3] },
              { do: 'step', action: 'tell', order: {} },
            ],
          },
          { do: 'step', action: 'build', order: { slow: 82, hangs: 1, undoFails: 1 }, refers: [0, 1] },
          { do: 'step', action: 'dock', order: { waits: 85, rings: 32, wary: true } },
        ],
        startAt: 432,
        twice: true,
      },
      {
        id: 't3',
        at: 574,
        ops: [],
        parts: [
          {
            do: 'sequence',
            of: [
              { do: 'step', action: 'reserve', order: { slow: 63, undoFails: 2 }, refers: [] },
              {
                do: 'sequence',
                of: [
                  { do: 'step', action: 'tell', order: { fails: 2, slow: 83, undoFails: 2 }, refers: [0] },
                  { do: 'step', action: 'reserve', order: {}, follows: [0] },
                  { do: 'step', action: 'reserve', order: { slow: 74, permanent: true }, rescue: 'pause' },
                ],
              },
              { do: 'step', action: 'dock', order: { slow: 23, waits: 102 } },
            ],
          },
          {
            do: 'concurrence',
            of: [
              { do: 'step', action: 'charge', order: { fails: 1, permanent: true } },
              { do: 'step', action: 'ship', order: { slow: 87 }, follows: [0] },
            ],
          },
        ],
      },
      {
        id: 't4',
        at: 324,
        ops: [
          { do: 'step', action: 'reserve', order: {}, rescue: 'skip' },
          { do: 'step', action: 'ship', order: { undoFails: 2 } },
          { do: 'local', order: { undoFails: 1, permanent: false } },
        ],
        completeBy: 8,
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [{ at: 3549, kind: 'cut', node: 0, ms: 1616 }],
    calls: { refused: 0.03, busy: 0.03, twice: 0.03 },
    strike: null,
  }),
  'a program with a start time of zero, which is held to no bound of waiting programs': calmPlan({
    seed: 10_470,
    nodes: [
      { roles: ['scheduler', 'supervisor'], skew: 0 },
      { skew: 0, roles: ['agent'] },
    ],
    settings: { lease: 1761, sweep: 256, poll: 50, tasks: 3, tellsChanges: true, distance: 0 },
    tasks: [
      {
        id: 't0',
        at: 697,
        ops: [],
        parts: [
          { do: 'step', action: 'reserve', order: {} },
          { do: 'step', action: 'reserve', order: { slow: 42, hangs: 1 }, follows: [0, 0] },
        ],
      },
      {
        id: 't1',
        at: 1276,
        ops: [
          { do: 'undo' },
          { do: 'step', action: 'ship', order: {} },
          { do: 'step', action: 'charge', order: { slow: 5, undoFails: 1 } },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: { where: 1 } }],
              [{ do: 'step', action: 'charge', order: { where: 0 } }],
              [{ do: 'step', action: 'ship', order: { where: 1 } }],
              [{ do: 'step', action: 'reserve', order: { where: 1 } }],
              [{ do: 'step', action: 'reserve', order: { where: 1 } }],
              [{ do: 'step', action: 'reserve', order: { where: 1 } }],
              [{ do: 'step', action: 'reserve', order: { where: 1 } }],
              [{ do: 'step', action: 'reserve', order: { where: 1 } }],
            ],
          },
          { do: 'fail' },
        ],
        startAt: 0,
      },
      { id: 'caller 1', at: 1085, ops: [{ do: 'step', action: 'charge', order: { slow: 120 } }] },
      { id: 'caller 2', at: 1253, ops: [{ do: 'step', action: 'charge', order: { slow: 140 } }] },
      { id: 'caller 3', at: 1283, ops: [{ do: 'step', action: 'charge', order: { slow: 114 } }] },
      { id: 'caller 4', at: 1117, ops: [{ do: 'step', action: 'charge', order: { slow: 64 } }] },
      { id: 'caller 5', at: 1271, ops: [{ do: 'step', action: 'charge', order: { slow: 80 } }] },
      { id: 'caller 6', at: 1226, ops: [{ do: 'step', action: 'charge', order: { slow: 84 } }] },
      { id: 'caller 7', at: 1260, ops: [{ do: 'step', action: 'charge', order: { slow: 62 } }] },
      { id: 'caller 8', at: 1147, ops: [{ do: 'step', action: 'charge', order: { slow: 112 } }] },
      { id: 'caller 9', at: 1096, ops: [{ do: 'step', action: 'charge', order: { slow: 64 } }] },
      { id: 'caller 10', at: 1067, ops: [{ do: 'step', action: 'charge', order: { slow: 113 } }] },
      { id: 'caller 11', at: 1305, ops: [{ do: 'step', action: 'charge', order: { slow: 135 } }] },
      { id: 'caller 12', at: 1104, ops: [{ do: 'step', action: 'charge', order: { slow: 47 } }] },
      { id: 'caller 13', at: 1270, ops: [{ do: 'step', action: 'charge', order: { slow: 85 } }] },
      { id: 'caller 14', at: 1285, ops: [{ do: 'step', action: 'charge', order: { slow: 83 } }] },
    ],
    moves: [],
    chaos: 4000,
    hurts: [],
    calls: {},
    strike: null,
    poison: [{ task: 't1', kind: 'refused', at: 2675 }],
    outage: {
      ills: [{ at: 3060, ms: 1556 }],
      rule: { failureRate: 0.5, window: 4000, minimum: 2, open: 362, openMax: 724, probes: 3, keyed: true },
      words: [],
    },
    reign: { names: ['supervisor'], lasts: 2748, lingers: 2965 },
    entrance: { most: 4, waits: false },
  }),
  'an answer of a node whose cache had failed, while another node asks the service': calmPlan({
    seed: 23042,
    nodes: [
      { roles: ['scheduler', 'supervisor', 'agent'], skew: 0 },
      { roles: ['agent'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: {
      lease: 928,
      sweep: 335,
      poll: 20,
      tasks: 1000,
      tellsChanges: true,
      distance: 0,
      throws: true,
      patience: 930,
    },
    tasks: [
      { id: 't1', at: 1408, ops: [{ do: 'picky' }, { do: 'picky' }, { do: 'event', timeout: 232 }], priority: 1 },
      {
        id: 't2',
        at: 132,
        ops: [
          { do: 'dock', order: { rings: 141, wary: true } },
          { do: 'ask', key: 0 },
          { do: 'ask', key: 1 },
        ],
        priority: 0,
      },
      {
        id: 'loud 1',
        at: 1840,
        ops: [
          { do: 'step', action: 'ship', order: {} },
          { do: 'step', action: 'ship', order: {} },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
            ],
          },
          { do: 'ask', key: 1 },
        ],
        priority: 2,
      },
      { id: 'loud 4', at: 3940, ops: [{ do: 'ask', key: 0 }], priority: 2 },
      { id: 'curious 0', at: 2397, ops: [{ do: 'ask', key: 1 }] },
      { id: 'curious 1', at: 2263, ops: [{ do: 'sleep', ms: 543 }] },
      { id: 'curious 2', at: 3917, ops: [{ do: 'ask', key: 0 }] },
      {
        id: 'curious 3',
        at: 178,
        ops: [
          { do: 'sleep', ms: 499 },
          { do: 'sleep', ms: 407 },
          { do: 'ask', key: 0 },
          { do: 'ask', key: 0 },
          { do: 'ask', key: 0 },
        ],
      },
    ],
    moves: [],
    chaos: 4000,
    hurts: [
      { at: 2005, kind: 'restart', node: 2, ms: 308 },
      { at: 3471, kind: 'restart', node: 1, ms: 2963 },
      { at: 1198, kind: 'restart', node: 1, ms: 2969 },
      { at: 3967, kind: 'restart', node: 0, ms: 335 },
    ],
    calls: { unanswered: 0.003 },
    strike: null,
    cache: {
      ttl: 2610,
      stale: 0,
      negative: 0,
      scope: 'shared',
      slow: 672,
      ills: 2,
      refusals: 0,
      words: [
        { at: 965, by: 'tag', key: 0 },
        { at: 3329, by: 'action', key: 1 },
        { at: 1545, by: 'action', key: 1 },
      ],
    },
  }),
  'two nodes that wait for the limit of an agent and that of its action, one attempt at a time': calmPlan({
    seed: 60261,
    nodes: [
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
      { roles: ['scheduler', 'agent', 'supervisor'], skew: 0 },
    ],
    settings: { lease: 1470, sweep: 137, poll: 250, tasks: 1000, tellsChanges: true, distance: 0 },
    tasks: [
      {
        id: 't0',
        at: 386,
        ops: [
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
            ],
          },
          {
            do: 'settled',
            of: [
              [
                {
                  do: 'call',
                  ops: [
                    { do: 'step', action: 'mail', order: { fails: 1 } },
                    { do: 'local', order: { slow: 75, permanent: false } },
                    { do: 'step', action: 'reserve', order: {} },
                  ],
                  undo: false,
                  onCancel: 'cancel',
                },
              ],
              [
                { do: 'step', action: 'reserve', order: {} },
                { do: 'step', action: 'reserve', order: { slow: 57, undoFails: 1 }, rescue: 'compensate' },
                {
                  do: 'start',
                  ops: [
                    {
                      do: 'call',
                      ops: [
                        { do: 'sleep', ms: 160 },
                        { do: 'step', action: 'reserve', order: { undoFails: 1 } },
                        { do: 'step', action: 'charge', order: { slow: 108 } },
                      ],
                      undo: true,
                      onCancel: 'wait',
                    },
                    { do: 'step', action: 'mail', order: {} },
                    { do: 'step', action: 'reserve', order: {} },
                  ],
                  undo: true,
                  onCancel: 'cancel',
                },
                { do: 'step', action: 'refuse', order: { slow: 117, undoFails: 2 } },
              ],
              [
                {
                  do: 'call',
                  ops: [
                    {
                      do: 'try',
                      ops: [
                        { do: 'step', action: 'ship', order: { slow: 102 } },
                        { do: 'step', action: 'charge', order: { slow: 91 } },
                      ],
                    },
                    { do: 'step', action: 'reserve', order: { undoFails: 2 } },
                    { do: 'patched' },
                  ],
                  undo: true,
                  onCancel: 'wait',
                },
              ],
            ],
          },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
            ],
          },
        ],
      },
      {
        id: 't1',
        at: 706,
        ops: [
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
            ],
          },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'ship', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'reserve', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
            ],
          },
          { do: 'step', action: 'refuse', order: {} },
          {
            do: 'settled',
            of: [
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'charge', order: {} }],
              [{ do: 'step', action: 'ship', order: {} }],
            ],
          },
        ],
      },
    ],
    moves: [
      { at: 706, kind: 'retry', task: 0 },
      { at: 1094, kind: 'pause', task: 1 },
    ],
    chaos: 4000,
    hurts: [
      { at: 355, kind: 'crash', node: 0, ms: 134 },
      { at: 444, kind: 'crash', node: 1, ms: 1447 },
      { at: 2483, kind: 'crash', node: 0, ms: 1716 },
      { at: 392, kind: 'crash', node: 0, ms: 343 },
      { at: 2362, kind: 'crash', node: 1, ms: 498 },
      { at: 464, kind: 'crash', node: 1, ms: 101 },
    ],
    calls: { unheard: 0.1, twice: 0.1, slow: 0.1, 'crash-before': 0.02 },
    strike: null,
    throttle: { limit: 5, per: 1000, burst: 1, charges: { limit: 5, burst: 1 } },
  }),
}
