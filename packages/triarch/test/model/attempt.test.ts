import { expect, it } from 'vitest'
import type { TaskEvent } from '../../src/kernel/event.ts'
import type { Message } from '../../src/kernel/message.ts'
import * as h from './history.ts'
import { type Circumstances, turned } from './turned.ts'

const running: TaskEvent[] = [h.started, h.requested(1)]
const unknown: TaskEvent = h.failedAttempt(1, { unknown: true, next: { operation: 'run', at: 1_000 } })
const asking: TaskEvent = h.failedAttempt(1, { unknown: true, next: { operation: 'verify', at: 1_000 } })
const verifying: TaskEvent[] = [h.started, h.requested(1, { verify: true }), asking]
const undoing: TaskEvent[] = [...running, h.completed(1), h.closing(true), { type: 'compensating' }, h.undoing(1)]
const suspended: TaskEvent[] = [...running, { type: 'stepSuspended', id: 1, ...h.trace }]
const held: TaskEvent[] = [...running, h.failedAttempt(1), { type: 'paused', reason: 'step', step: 1, error: h.error }]
const again = { attempt: 2 }
const verify = { operation: 'verify' } as const
const undo = { operation: 'undo' } as const

/** It failed so often, and is tried again. */
function failures(times: number, more = {}): TaskEvent[] {
  return [
    h.started,
    h.requested(1, more),
    ...Array.from({ length: times }, () => h.failedAttempt(1, { next: { operation: 'run', at: 1_000 } })),
  ]
}

/** It was lost so often in a row, as one that is tried by itself or not. */
function losses(
  times: number,
  { trial = false, policy = {}, next = 1_000, how = 'death' as 'death' | 'silence' } = {},
): TaskEvent[] {
  const lost = h.failedAttempt(1, { lost: how, unknown: true, next: { operation: 'run', at: next } })
  const begun: TaskEvent = { type: 'heartbeat', id: 1, attempt: 1, trial: 'begun' }
  return [
    h.started,
    h.requested(1, policy),
    ...Array.from({ length: times }, () => [...(trial ? [begun] : []), lost]).flat(),
  ]
}

const takeover: Message = { type: 'takeover', step: 1 }
const dead = { ...h.trace, startedAt: null }
const timeout = { name: 'StepTimeoutError', code: 'STEP_TIMEOUT', message: 'late' }

const table: [what: string, history: readonly TaskEvent[], circumstances: Circumstances, does: string[]][] = [
  ['it is done', running, { mail: [h.reply(1, h.done)] }, ['stepCompleted 1 output=7 attempt=1', 'tells 1: 7']],
  [
    'it is done twice',
    running,
    { mail: [h.reply(1, h.done), h.reply(1, h.done)] },
    ['stepCompleted 1 output=7 attempt=1', 'tells 1: 7', 'stale 1'],
  ],
  ['an older one is done', failures(1), { mail: [h.reply(1, h.done)] }, ['stale 1']],
  ['one is done that was not asked for', running, { mail: [h.reply(1, h.done, verify)] }, ['stale 1']],
  ['one is done of a step that is held', held, { mail: [h.reply(1, h.done)] }, ['stale 1']],
  [
    'a verification says that it was done',
    verifying,
    { mail: [h.reply(1, h.done, verify)] },
    ['stepCompleted 1 output=7 by="verify" attempt=1', 'tells 1: 7'],
  ],
  [
    'an undo is done',
    undoing,
    { mail: [h.reply(1, h.done, undo)] },
    ['undone 1 attempt=1', 'stopped result="cancelled"'],
  ],
  [
    'an answer that only verifications give',
    running,
    { mail: [h.reply(1, { kind: 'not-done' }), h.reply(1, { kind: 'unknown' })] },
    ['stale 2'],
  ],
  [
    'it waits',
    running,
    {
      mail: [
        h.reply(1, {
          kind: 'suspended',
          timeout: 30,
          alarms: [{ in: 20, name: 'x', payload: 1 }],
          checkpoint: 2,
          wary: true,
        }),
      ],
    },
    [
      'stepSuspended 1 checkpoint=2 notifyOnCancel=true until=+30 selfSignals=[{at=+20 name="x" payload=1}] attempt=1',
      'wakes +20',
    ],
  ],
  ['it waits for good', running, { mail: [h.reply(1, { kind: 'suspended' })] }, ['stepSuspended 1 attempt=1']],
  ['a verification cannot wait', verifying, { mail: [h.reply(1, { kind: 'suspended' }, verify)] }, ['stale 1']],
  ['it was not begun', running, { mail: [h.reply(1, { kind: 'withdrawn' })] }, ['starts 1 run 1', 'wakes -10']],
  [
    'it was not begun, and there is no place for it yet',
    running,
    { mail: [h.reply(1, { kind: 'withdrawn', after: 12.5 })] },
    ['heartbeat 1 attempt=1 putOff=1053', 'wakes +13'],
  ],
  [
    'that there was no place is said once more, while its queue has it',
    running,
    {
      mail: [h.reply(1, { kind: 'withdrawn', lane: 'a' })],
      next: [h.reply(1, { kind: 'withdrawn', after: 250 }, { endedAt: 1_100 })],
    },
    ['starts 1 run 1', 'wakes -10', 'and then', 'stale 1'],
  ],
  [
    'the next who has it has no place either',
    running,
    {
      mail: [h.reply(1, { kind: 'withdrawn' })],
      next: [h.reply(1, { kind: 'withdrawn', after: 250 }, { startedAt: 1_041 })],
    },
    ['starts 1 run 1', 'wakes -10', 'and then', 'heartbeat 1 attempt=1 putOff=1290', 'wakes +250'],
  ],
  [
    'it says how far it is',
    running,
    { mail: [{ type: 'heartbeat', step: 1, attempt: 1, progress: 1, checkpoint: 2 }] },
    ['heartbeat 1 attempt=1 progress=1 checkpoint=2'],
  ],
  [
    'an older one says how far it is',
    failures(1),
    { mail: [{ type: 'heartbeat', step: 1, attempt: 1, progress: 1 }] },
    ['stale 1'],
  ],
  [
    'one of a step that is held says how far it is',
    held,
    { mail: [{ type: 'heartbeat', step: 1, attempt: 1, progress: 1 }] },
    ['stale 1'],
  ],
  [
    'one of no step says how far it is',
    running,
    { mail: [{ type: 'heartbeat', step: 9, attempt: 1, progress: 1 }] },
    ['stale 1'],
  ],
  [
    'a verification says how far it is',
    verifying,
    { mail: [{ type: 'heartbeat', step: 1, attempt: 1, progress: 1 }] },
    ['stale 1'],
  ],
  [
    'a verification is tried by itself',
    verifying,
    { mail: [{ type: 'heartbeat', step: 1, attempt: 1, trial: 'begun' }] },
    ['heartbeat 1 attempt=1 trial="begun"'],
  ],
  [
    'it fails',
    running,
    { mail: [h.reply(1, h.failed())] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1 next={operation="run" at=+10}', 'wakes +10'],
  ],
  [
    'it fails for the second time',
    failures(1),
    { mail: [h.reply(1, h.failed(), again)] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=2 next={operation="run" at=+20}', 'wakes +20'],
  ],
  [
    'it fails for the last time',
    failures(2),
    { mail: [h.reply(1, h.failed(), { attempt: 3 })] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=3', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'it fails for good',
    running,
    { mail: [h.reply(1, h.failed({ retryable: false }))] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'the service wants to be left alone',
    running,
    { mail: [h.reply(1, h.failed({ retryAfter: 99.5 }))] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1 next={operation="run" at=+100}', 'wakes +100'],
  ],
  [
    'it fails with a checkpoint',
    running,
    { mail: [h.reply(1, h.failed(), { checkpoint: 5 })] },
    [
      'heartbeat 1 attempt=1 checkpoint=5',
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1 next={operation="run" at=+10}',
      'wakes +10',
    ],
  ],
  [
    'it fails for good where steps may be skipped',
    failures(0, { rescue: 'skip', substitute: 3 }),
    { mail: [h.reply(1, h.failed({ retryable: false }))] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'stepSkipped 1 output=3 by="rescue"', 'tells 1: 3'],
  ],
  [
    'it fails for good where an operator is asked',
    failures(0, { rescue: 'pause' }),
    { mail: [h.reply(1, h.failed({ retryable: false }))] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'paused reason="step" step=1 error=(Error: no)',
      'alerts step 1: step 1 (b) needs an operator: no',
    ],
  ],
  [
    'it fails for good where the task fails',
    failures(0, { rescue: 'fail' }),
    { mail: [h.reply(1, h.failed({ retryable: false }))] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'it fails where one attempt is all',
    failures(0, { semantics: 'at-most-once' }),
    { mail: [h.reply(1, h.failed())] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'nobody knows what became of it',
    running,
    { mail: [h.reply(1, h.failed({ unknown: true }))] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) unknown=true attempt=1 next={operation="run" at=+10}',
      'wakes +10',
    ],
  ],
  [
    'nobody knows what became of it, and the service can be asked',
    failures(0, { verify: true }),
    { mail: [h.reply(1, h.failed({ unknown: true }))] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) unknown=true attempt=1 next={operation="verify" at=+10}',
      'wakes +10',
    ],
  ],
  [
    'nobody knows what became of it, and one attempt is all',
    failures(0, { semantics: 'at-most-once' }),
    { mail: [h.reply(1, h.failed({ unknown: true }))] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) unknown=true attempt=1',
      'paused reason="unknown-outcome" step=1 error=(STEP_UNKNOWN_OUTCOME: nobody knows whether step 1 (b) took effect: no < (Error: no))',
      'alerts unknown-outcome 1: nobody knows whether step 1 (b) took effect: no',
    ],
  ],
  [
    'it fails after one of unknown outcome, and one attempt is all',
    [...failures(0, { semantics: 'at-most-once' }), unknown],
    { mail: [h.reply(1, h.failed(), again)] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=2',
      'paused reason="unknown-outcome" step=1 error=(STEP_UNKNOWN_OUTCOME: nobody knows whether step 1 (b) took effect: no < (Error: no))',
      'alerts unknown-outcome 1: nobody knows whether step 1 (b) took effect: no',
    ],
  ],
  [
    'it fails for good after one of unknown outcome',
    [...running, unknown],
    { mail: [h.reply(1, h.failed({ retryable: false }), again)] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=2', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'it fails for good after one of unknown outcome, and the service can be asked',
    [...failures(0, { verify: true }), unknown],
    { mail: [h.reply(1, h.failed({ retryable: false }), again)] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=2 next={operation="verify" at=+0}',
      'starts 1 verify 1',
      'wakes +0',
    ],
  ],
  [
    'it did its work, and what it gave cannot be kept',
    running,
    { mail: [h.reply(1, h.failed({ done: true }))] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'paused reason="unknown-outcome" step=1 error=(STEP_UNRECORDABLE: step 1 (b) did its work, but what it gave cannot be recorded: no < (Error: no))',
      'alerts unknown-outcome 1: step 1 (b) needs an operator: step 1 (b) did its work, but what it gave cannot be recorded: no',
    ],
  ],
  [
    'it fails and there is just time for another',
    failures(0, { expiresIn: 21 }),
    { mail: [h.reply(1, h.failed())] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1 next={operation="run" at=+10}', 'wakes +10'],
  ],
  [
    'it fails and there is no time for another',
    failures(0, { expiresIn: 20 }),
    { mail: [h.reply(1, h.failed())] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'it fails and the task just has time for another',
    [{ ...h.submitted, completeBy: 1_061 }, ...running],
    { mail: [h.reply(1, h.failed())] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1 next={operation="run" at=+10}', 'wakes +10'],
  ],
  [
    'it fails and the task has no time for another',
    [{ ...h.submitted, completeBy: 1_050 }, ...running],
    { mail: [h.reply(1, h.failed())] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) attempt=1',
      'stepFailed 1 error=(Error: no)',
      'tells 1: step',
      'wakes +10',
    ],
  ],
  [
    'it fails while the task stops',
    [...running, h.closing(true)],
    { mail: [h.reply(1, h.failed())] },
    ['attemptFailed 1 operation="run" error=(Error: no) attempt=1', 'stepCancelled 1', 'stopped result="cancelled"'],
  ],
  [
    'its process died',
    running,
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=1 next={operation="run" at=+0}',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'its process died, and the service can be asked',
    failures(0, { verify: true }),
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=1 next={operation="verify" at=+0}',
      'starts 1 verify 1',
      'wakes +0',
    ],
  ],
  [
    'its process died, and one attempt is all',
    failures(0, { semantics: 'at-most-once' }),
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=1',
      'paused reason="unknown-outcome" step=1 error=(STEP_UNKNOWN_OUTCOME: nobody knows whether step 1 (b) took effect: the process that ran the attempt died < (STEP_LOST: the process that ran the attempt died))',
      'alerts unknown-outcome 1: nobody knows whether step 1 (b) took effect: the process that ran the attempt died',
    ],
  ],
  ['it is known to run', running, { mail: [takeover] }, []],
  ['it was not to begin yet', losses(1, { next: 1_061 }), { fresh: true, mail: [takeover] }, ['wakes +11']],
  [
    'it was to begin just now',
    losses(1, { next: 1_050 }),
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=2 next={operation="run" at=+750}',
      'wakes +750',
    ],
  ],
  ['it was held', held, { fresh: true, mail: [takeover] }, []],
  [
    'one of no step was lost',
    running,
    {
      fresh: true,
      mail: [
        { type: 'takeover', step: 9 },
        { type: 'cut', step: 9 },
      ],
    },
    ['starts 1 run 1', 'wakes -10'],
  ],
  [
    'its node stops',
    running,
    { mail: [{ type: 'cut', step: 1 }] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the node that ran the attempt was stopped) unknown=true lost="stop" attempt=1 next={operation="run" at=+0}',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'its node stops, and one attempt is all',
    failures(0, { semantics: 'at-most-once' }),
    { mail: [{ type: 'cut', step: 1 }] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the node that ran the attempt was stopped) unknown=true lost="stop" attempt=1',
      'paused reason="unknown-outcome" step=1 error=(STEP_UNKNOWN_OUTCOME: nobody knows whether step 1 (b) took effect: the node that ran the attempt was stopped < (STEP_LOST: the node that ran the attempt was stopped))',
      'alerts unknown-outcome 1: nobody knows whether step 1 (b) took effect: the node that ran the attempt was stopped',
    ],
  ],
  [
    'a node stops that did not run it',
    running,
    { fresh: true, mail: [{ type: 'cut', step: 1 }] },
    ['starts 1 run 1', 'wakes -10'],
  ],
  ['a node stops where it was held', held, { mail: [{ type: 'cut', step: 1 }] }, []],
  [
    'it is lost for the second time',
    losses(1),
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=2 next={operation="run" at=+750}',
      'wakes +750',
    ],
  ],
  [
    'a suspect that had not begun is lost',
    losses(2),
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="stop" attempt=3 next={operation="run" at=+0}',
      'starts 1 run 4',
      'wakes +0',
    ],
  ],
  [
    'a suspect is lost',
    [...losses(2), { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' }],
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=3 next={operation="run" at=+1125}',
      'wakes +1125',
    ],
  ],
  [
    'a suspect is lost for the third time',
    losses(3),
    { mail: [h.reply(1, h.failed({ lost: 'death' }), { attempt: 4 })] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) lost="death" attempt=4 next={operation="run" at=+1688}',
      'wakes +1688',
    ],
  ],
  [
    'the fourth process died in a row that lived on after its beginning',
    [...losses(3), { type: 'heartbeat', id: 1, attempt: 4, trial: 'survived' }],
    { mail: [h.reply(1, h.failed({ lost: 'death' }), { attempt: 4 })] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) lost="death" attempt=4 next={operation="run" at=+150}',
      'wakes +150',
    ],
  ],
  [
    'a suspect kills for the third time',
    [...losses(2, { trial: true }), { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' }],
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=3',
      'paused reason="step" step=1 error=(STEP_KEEPS_DYING: step 1 (b) was lost with its process 3 times in a row: the process that ran the attempt died < (STEP_LOST: the process that ran the attempt died))',
      'alerts step 1: step 1 (b) needs an operator: step 1 (b) was lost with its process 3 times in a row: the process that ran the attempt died',
    ],
  ],
  [
    'a suspect is not heard of in time for the third time: its process may have been starved, which is no proof of death',
    [...losses(2, { trial: true, how: 'silence' }), { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' }],
    { mail: [h.reply(1, h.failed({ error: timeout, unknown: true }), { ...dead, attempt: 3 })] },
    [
      'attemptFailed 1 operation="run" error=(STEP_TIMEOUT: late) unknown=true lost="silence" attempt=3 next={operation="run" at=+0}',
      'starts 1 run 4',
      'wakes +0',
    ],
  ],
  [
    'a suspect is not heard of in time for the sixth time',
    [...losses(5, { trial: true, how: 'silence' }), { type: 'heartbeat', id: 1, attempt: 6, trial: 'begun' }],
    { mail: [h.reply(1, h.failed({ error: timeout, unknown: true }), { ...dead, attempt: 6 })] },
    [
      'attemptFailed 1 operation="run" error=(STEP_TIMEOUT: late) unknown=true lost="silence" attempt=6',
      'paused reason="step" step=1 error=(STEP_KEEPS_DYING: step 1 (b) was lost with its process 6 times in a row: late < (STEP_TIMEOUT: late))',
      'alerts step 1: step 1 (b) needs an operator: step 1 (b) was lost with its process 6 times in a row: late',
    ],
  ],
  [
    'a suspect kills for the third time, and may be skipped',
    [
      ...losses(2, { trial: true, policy: { rescue: 'skip' } }),
      { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' },
    ],
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=3',
      'paused reason="step" step=1 error=(STEP_KEEPS_DYING: step 1 (b) was lost with its process 3 times in a row: the process that ran the attempt died < (STEP_LOST: the process that ran the attempt died))',
      'alerts step 1: step 1 (b) needs an operator: step 1 (b) was lost with its process 3 times in a row: the process that ran the attempt died',
    ],
  ],
  [
    'a suspect kills for the third time, and the service can be asked',
    [...losses(2, { trial: true, policy: { verify: true } }), { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' }],
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: the process that ran the attempt died) unknown=true lost="death" attempt=3 next={operation="verify" at=+1125}',
      'wakes +1125',
    ],
  ],
  [
    'it is lost for the hundredth time',
    losses(99),
    { mail: [h.reply(1, h.failed({ lost: 'death' }), { attempt: 100 })] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) lost="death" attempt=100',
      'paused reason="step" step=1 error=(STEP_KEEPS_DYING: step 1 (b) was lost with its process 100 times in a row: no < (Error: no))',
      'alerts step 1: step 1 (b) needs an operator: step 1 (b) was lost with its process 100 times in a row: no',
    ],
  ],
  [
    'its agent died, as the supervisor says',
    running,
    { mail: [h.reply(1, h.failed({ error: timeout, unknown: true }), dead)] },
    [
      'attemptFailed 1 operation="run" error=(STEP_TIMEOUT: late) unknown=true lost="silence" attempt=1 next={operation="run" at=+0}',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
  [
    'it timed out, as its agent says',
    running,
    { mail: [h.reply(1, h.failed({ error: timeout, unknown: true }))] },
    [
      'attemptFailed 1 operation="run" error=(STEP_TIMEOUT: late) unknown=true attempt=1 next={operation="run" at=+10}',
      'wakes +10',
    ],
  ],
  [
    'it timed out where nobody had it',
    running,
    { mail: [h.reply(1, h.failed({ error: timeout, unknown: true }), { ...dead, node: null })] },
    [
      'attemptFailed 1 operation="run" error=(STEP_TIMEOUT: late) unknown=true attempt=1 next={operation="run" at=+10}',
      'wakes +10',
    ],
  ],
  [
    'it was refused where it had not begun',
    running,
    { mail: [h.reply(1, h.failed({ error: timeout }), dead)] },
    ['attemptFailed 1 operation="run" error=(STEP_TIMEOUT: late) attempt=1 next={operation="run" at=+10}', 'wakes +10'],
  ],
  [
    'it failed otherwise where nobody saw it begin',
    running,
    { mail: [h.reply(1, h.failed({ unknown: true, error: { ...h.error, code: 'E' } }), dead)] },
    ['attemptFailed 1 operation="run" error=(E: no) unknown=true attempt=1 next={operation="run" at=+10}', 'wakes +10'],
  ],
  [
    'it failed without a code where nobody saw it begin',
    running,
    { mail: [h.reply(1, h.failed({ unknown: true }), dead)] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) unknown=true attempt=1 next={operation="run" at=+10}',
      'wakes +10',
    ],
  ],
  [
    'an undo fails',
    undoing,
    { mail: [h.reply(1, h.failed(), undo)] },
    ['attemptFailed 1 operation="undo" error=(Error: no) attempt=1 next={operation="undo" at=+10}', 'wakes +10'],
  ],
  [
    'an undo fails for good',
    undoing,
    { mail: [h.reply(1, h.failed({ retryable: false }), undo)] },
    [
      'attemptFailed 1 operation="undo" error=(Error: no) attempt=1',
      'paused reason="undo" step=1 error=(UNDO_FAILED: step 1 (b) cannot be undone: no < (Error: no))',
      'alerts undo 1: step 1 (b) cannot be undone: no',
    ],
  ],
  [
    'an undo fails for the last time',
    [
      ...undoing,
      ...[2, 3].map(() => h.failedAttempt(1, { operation: 'undo', next: { operation: 'undo', at: 1_000 } })),
    ],
    { mail: [h.reply(1, h.failed(), { ...undo, attempt: 3 })] },
    [
      'attemptFailed 1 operation="undo" error=(Error: no) attempt=3',
      'paused reason="undo" step=1 error=(UNDO_FAILED: step 1 (b) cannot be undone: no < (Error: no))',
      'alerts undo 1: step 1 (b) cannot be undone: no',
    ],
  ],
  [
    'the process of an undo died',
    undoing,
    { fresh: true, mail: [takeover] },
    [
      'attemptFailed 1 operation="undo" error=(STEP_LOST: the process that ran the attempt died) lost="death" attempt=1 next={operation="undo" at=+0}',
      'starts 1 undo 2',
      'wakes +0',
    ],
  ],
  [
    'an undo is lost for the hundredth time',
    [
      ...undoing,
      ...Array.from({ length: 99 }, () =>
        h.failedAttempt(1, { operation: 'undo', lost: 'death', next: { operation: 'undo', at: 1_000 } }),
      ),
    ],
    { mail: [h.reply(1, h.failed({ lost: 'death' }), { ...undo, attempt: 100 })] },
    [
      'attemptFailed 1 operation="undo" error=(Error: no) lost="death" attempt=100',
      'paused reason="undo" step=1 error=(UNDO_FAILED: step 1 (b) cannot be undone: step 1 (b) was lost with its process 100 times in a row: no < (STEP_KEEPS_DYING: step 1 (b) was lost with its process 100 times in a row: no < (Error: no)))',
      'alerts undo 1: step 1 (b) cannot be undone: step 1 (b) was lost with its process 100 times in a row: no',
    ],
  ],
  [
    'a verification fails',
    verifying,
    { mail: [h.reply(1, h.failed(), verify)] },
    ['attemptFailed 1 operation="verify" error=(Error: no) attempt=1 next={operation="verify" at=+10}', 'wakes +10'],
  ],
  [
    'a verification fails for good',
    verifying,
    { mail: [h.reply(1, h.failed({ retryable: false }), verify)] },
    [
      'attemptFailed 1 operation="verify" error=(Error: no) attempt=1',
      'paused reason="unknown-outcome" step=1 error=(STEP_UNKNOWN_OUTCOME: nobody knows whether step 1 (b) took effect: no < (Error: no))',
      'alerts unknown-outcome 1: nobody knows whether step 1 (b) took effect: no',
    ],
  ],
  [
    'a verification says no',
    verifying,
    { mail: [h.reply(1, { kind: 'not-done' }, verify)] },
    ['verified 1 answer="not-done" next={operation="run" at=+0}', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'a verification says no, and no attempt is left',
    [...failures(2, { verify: true }), { ...asking, startedAt: 900 } as TaskEvent],
    { mail: [h.reply(1, { kind: 'not-done' }, verify)] },
    ['verified 1 answer="not-done"', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'a verification says no, no attempt is left, and the last may still come',
    [...failures(2, { verify: true }), { ...asking, startedAt: 1_021 } as TaskEvent],
    { mail: [h.reply(1, { kind: 'not-done' }, verify)] },
    ['verified 1 answer="not-done" next={operation="verify" at=+1}', 'wakes +1'],
  ],
  [
    'a verification says no in the instant in which the last may come no more',
    [...failures(2, { verify: true }), { ...asking, startedAt: 1_020 } as TaskEvent],
    { mail: [h.reply(1, { kind: 'not-done' }, verify)] },
    ['verified 1 answer="not-done"', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'a verification says no, and one attempt is all',
    [...failures(0, { verify: true, semantics: 'at-most-once' }), { ...asking, startedAt: 900 } as TaskEvent],
    { mail: [h.reply(1, { kind: 'not-done' }, verify)] },
    ['verified 1 answer="not-done"', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'a verification says no while the task stops',
    [...failures(0, { verify: true }), { ...asking, startedAt: 900 } as TaskEvent, h.closing(true)],
    { mail: [h.reply(1, { kind: 'not-done' }, verify)] },
    ['verified 1 answer="not-done"', 'stepCancelled 1', 'stopped result="cancelled"'],
  ],
  [
    'a verification says no past the time of the step',
    [...failures(0, { verify: true, expiresIn: 20 }), { ...asking, startedAt: 900 } as TaskEvent],
    { mail: [h.reply(1, { kind: 'not-done' }, verify)] },
    ['verified 1 answer="not-done"', 'stepFailed 1 error=(Error: no)', 'tells 1: step'],
  ],
  [
    'a verification says no of what killed three processes',
    [
      ...losses(2, { trial: true, policy: { verify: true } }),
      { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' },
      { ...asking, startedAt: 900, lost: 'death' } as TaskEvent,
    ],
    { mail: [h.reply(1, { kind: 'not-done' }, verify)] },
    [
      'verified 1 answer="not-done"',
      'paused reason="step" step=1 error=(STEP_KEEPS_DYING: step 1 (b) was lost with its process 3 times in a row: no < (Error: no))',
      'alerts step 1: step 1 (b) needs an operator: step 1 (b) was lost with its process 3 times in a row: no',
    ],
  ],
  [
    'a verification does not know, but there is another attempt',
    verifying,
    { mail: [h.reply(1, { kind: 'unknown' }, verify)] },
    ['verified 1 answer="unknown" next={operation="run" at=+0}', 'starts 1 run 2', 'wakes +0'],
  ],
  [
    'a verification does not know, and one attempt is all',
    [...failures(0, { verify: true, semantics: 'at-most-once' }), asking],
    { mail: [h.reply(1, { kind: 'unknown' }, verify)] },
    ['verified 1 answer="unknown" next={operation="verify" at=+10}', 'wakes +10'],
  ],
  [
    'the last verification does not know',
    [
      ...failures(0, { verify: true, semantics: 'at-most-once' }),
      asking,
      ...[1, 2].map(
        (): TaskEvent => ({ type: 'verified', id: 1, answer: 'unknown', next: { operation: 'verify', at: 1_000 } }),
      ),
    ],
    { mail: [h.reply(1, { kind: 'unknown' }, { ...verify, attempt: 3 })] },
    [
      'verified 1 answer="unknown"',
      'paused reason="unknown-outcome" step=1 error=(STEP_UNKNOWN_OUTCOME: nobody knows whether step 1 (b) took effect: no < (Error: no))',
      'alerts unknown-outcome 1: nobody knows whether step 1 (b) took effect: no',
    ],
  ],
  ['a step is taken up that waits', suspended, { fresh: true, mail: [takeover] }, []],
  [
    'a letter cannot be read',
    running,
    { mail: [{ type: 'illegible' }] },
    ['messageIgnored message="illegible" reason="the letter could not be read"'],
  ],
  ['the task finds its own note', running, { mail: [{ type: 'kept', letters: 1, bytes: 1 }] }, []],
  [
    'it was not begun, there is no place for it, and its owner is lost',
    running,
    { mail: [h.reply(1, { kind: 'withdrawn', after: 1_000 }), takeover] },
    ['heartbeat 1 attempt=1 putOff=2040', 'wakes +1000'],
  ],
  [
    'a suspect said that it begins, found no place, and its owner is lost',
    [...losses(2), { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' }],
    { mail: [h.reply(1, { kind: 'withdrawn', after: 1_000 }, { attempt: 3 }), takeover] },
    ['heartbeat 1 attempt=3 putOff=2070', 'wakes +1000'],
  ],
  [
    'a suspect said that it begins, was given back at once, and its owner is lost',
    [...losses(2), { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' }],
    { mail: [h.reply(1, { kind: 'withdrawn' }, { attempt: 3 }), takeover] },
    ['heartbeat 1 attempt=3 putOff=1070', 'starts 1 run 3', 'wakes -70'],
  ],
  [
    'a suspect found no place once, and its process died before it began',
    [
      ...losses(2, { trial: true }),
      { type: 'heartbeat', id: 1, attempt: 3, trial: 'begun' },
      { type: 'heartbeat', id: 1, attempt: 3, putOff: 1_030 },
    ],
    { mail: [h.reply(1, h.failed({ lost: 'death' }), { ...dead, attempt: 3 })] },
    [
      'attemptFailed 1 operation="run" error=(Error: no) lost="death" attempt=3 next={operation="run" at=+1125}',
      'wakes +1125',
    ],
  ],
  [
    'it waits, and was sent something meanwhile',
    [
      ...suspended,
      { type: 'stepSignalled', id: 1, name: 'x', payload: 1 },
      { type: 'stepSignalled', id: 1, name: 'y', payload: 2 },
    ],
    { mail: [h.reply(1, { kind: 'suspended' }, again)] },
    ['stepSuspended 1 attempt=2', 'starts 1 run 3', 'wakes +0'],
  ],
  [
    'its agent was lost, as the supervisor says',
    running,
    { mail: [h.reply(1, h.failed({ error: { ...timeout, code: 'STEP_LOST' }, unknown: true }), dead)] },
    [
      'attemptFailed 1 operation="run" error=(STEP_LOST: late) unknown=true lost="death" attempt=1 next={operation="run" at=+0}',
      'starts 1 run 2',
      'wakes +0',
    ],
  ],
]

it.each(table)('of an attempt: when %s, this comes of it', (_, history, circumstances, does) => {
  expect(turned(history, circumstances)).toEqual(does)
})
