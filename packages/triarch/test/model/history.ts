import type { TaskEvent } from '../../src/kernel/event.ts'
import type { ErrorRecord, Json } from '../../src/kernel/json.ts'
import type { Message, Outcome, Reply } from '../../src/kernel/message.ts'
import type { PlannedStep } from '../../src/kernel/plan/plan.ts'
import type { TaskOutcome } from '../../src/kernel/status.ts'
import type { RecordedPolicy } from '../../src/kernel/step/policy.ts'

/** Events that tests make histories of. */
export const error = { name: 'Error', message: 'no' }
export const trace = { attempt: 1, startedAt: 1_990, endedAt: 2_000, node: 'n' }
export const retry = { attempts: 3, initial: 10, factor: 2, max: 30, jitter: false }
export const submitted = { type: 'submitted', workflow: 'w', version: '1', input: null } as const
export const started: TaskEvent = { type: 'started' }

/** A step that can be undone, each of whose attempts has 50 ms. */
export function requested(id: number, more: RecordedPolicy = {}): TaskEvent {
  const policy = { undo: true, completeWithin: 50, retry, undoRetry: retry, ...more }
  return { type: 'stepRequested', id, action: 'a.b', name: 'b', input: null, policy }
}

export function completed(id: number): TaskEvent {
  return { type: 'stepCompleted', id, output: id, ...trace }
}

export function failedAttempt(
  id: number,
  more: Partial<Extract<TaskEvent, { type: 'attemptFailed' }>> = {},
): TaskEvent {
  return { type: 'attemptFailed', id, operation: 'run', error, ...trace, ...more }
}

type Child = Extract<TaskEvent, { type: 'childStarted' }>

export function called(id: number, more: Partial<Child> = {}): TaskEvent {
  const child = { task: `c${id}`, workflow: 'v', version: '1', mode: 'call', onCancel: 'cancel', undo: true } as const
  return { type: 'childStarted', id, ...child, ...more }
}

/** A plan of these steps, and that it goes. */
export function plan(
  steps: PlannedStep[],
  more: { policies?: RecordedPolicy[]; output?: null | object } = {},
): TaskEvent[] {
  const { policies = [], output = null } = more
  const planned = { first: 1, steps, policies, groups: [], output: output as null }
  return [{ type: 'planning' }, { type: 'planned', plan: planned }, started]
}

/** A batch of children, five at a time, that bears no failure. */
export const batch = {
  ...{ workflow: 'c', version: '1', concurrency: 5, page: 5, tolerate: 0, failFast: true, quorum: null },
  onCancel: 'cancel' as const,
}

/** An operator, or the parent, wants the task to end. */
export function closing(compensate: boolean, more: { cause?: 'cancel' | 'deadline' | 'operator' } = {}): TaskEvent {
  return { type: 'closing', cause: 'cancel', compensate, ...more }
}

export function stopped(result: TaskOutcome, more: { output?: Json; error?: ErrorRecord } = {}): TaskEvent {
  return { type: 'stopped', result, ...more }
}

export function undoing(id: number): TaskEvent {
  return { type: 'undoRequested', id, at: 1_000 }
}

/** How an attempt ended, as its agent says. */
export function reply(step: number, outcome: Outcome, more: Partial<Reply> = {}): Message {
  return { type: 'reply', step, operation: 'run', outcome, ...trace, ...more }
}

type Failed = Extract<Outcome, { kind: 'failed' }>

export function failed(more: Partial<Failed> = {}): Outcome {
  return { kind: 'failed', error, retryable: true, ...more }
}

export const done: Outcome = { kind: 'done', output: 7 }
