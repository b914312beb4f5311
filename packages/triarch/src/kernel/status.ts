/**
 * A task's states; `moves.task.running` lists every state a running task may go to.
 * @example const open: readonly TaskStatus[] = ['pending', 'running', 'paused']
 */
export type TaskStatus =
  | 'scheduled'
  | 'pending'
  | 'planning'
  | 'planned'
  | 'running'
  | 'paused'
  | 'compensating'
  | 'stopped'

/**
 * How a task ended; `pending` until it has. `warning`: a success of which something was skipped.
 * @example const bad: readonly TaskOutcome[] = ['error', 'compensated']
 */
export type TaskOutcome = 'pending' | 'success' | 'warning' | 'error' | 'cancelled' | 'compensated'

/** A warning is a success of which something was skipped. */
export function succeeded(result: TaskOutcome): boolean {
  return result === 'success' || result === 'warning'
}

/**
 * Where a step is between its request and its end. docs/reference/states.md has every move.
 * @example const under: StepStatus[] = ['running', 'suspended']
 */
export type StepStatus =
  | 'pending'
  | 'running'
  | 'suspended'
  | 'success'
  | 'error'
  | 'skipped'
  | 'cancelled'
  | 'compensating'
  | 'compensated'

/**
 * Every legal move. Moves out of `stopped` are operator actions (retry of a stopped task, compensation of one that succeeded); each is
 * recorded in the history like any other event. A batch may be compensated without having succeeded, because some of its children may have.
 */
export const moves: {
  readonly task: Readonly<Record<TaskStatus, readonly TaskStatus[]>>
  readonly step: Readonly<Record<StepStatus, readonly StepStatus[]>>
} = {
  task: {
    scheduled: ['pending', 'planning', 'running', 'paused', 'stopped'],
    pending: ['planning', 'running', 'paused', 'stopped'],
    planning: ['planned', 'paused', 'stopped'],
    planned: ['running', 'paused', 'stopped'],
    running: ['paused', 'compensating', 'stopped'],
    paused: ['scheduled', 'pending', 'planning', 'planned', 'running', 'compensating', 'stopped'],
    compensating: ['paused', 'stopped'],
    stopped: ['pending', 'planned', 'running', 'compensating'],
  },
  step: {
    pending: ['running', 'cancelled'],
    running: ['suspended', 'success', 'error', 'skipped', 'cancelled'],
    suspended: ['running', 'success', 'error', 'skipped', 'cancelled'],
    success: ['compensating'],
    error: ['running', 'skipped', 'cancelled', 'compensating'],
    skipped: ['compensating'],
    cancelled: ['compensating'],
    compensating: ['compensated', 'error'],
    compensated: [],
  },
}

/** True when the table allows the move (staying put is always allowed). */
export function mayMove<S extends string>(table: Readonly<Record<S, readonly S[]>>, from: S, to: S): boolean {
  return from === to || table[from].includes(to)
}
