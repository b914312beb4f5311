import type { ErrorRecord } from '../json.ts'
import type { TaskState } from '../state.ts'
import { emit, type Turn } from '../turn.ts'
import { veil } from '../veiled.ts'
import { incompleteDetails, leftOf } from './left.ts'
import type { Parent } from './order.ts'
import type { Closing } from './pause.ts'

/** Stops a task all of whose work is settled. */
export function stop(turn: Turn, reason: Closing): void {
  const { state } = turn
  const undone = state.undone > 0
  const result =
    reason.cause === 'returned'
      ? state.skipped
        ? 'warning'
        : 'success'
      : reason.cause === 'cancel'
        ? 'cancelled'
        : undone || reason.cause === 'operator'
          ? claimed(state)
          : 'error'
  const { output } = reason
  // Also if the only effects that could be undone are those of earlier runs.
  const isLeft = result === 'error' && reason.compensate && state.left > 0
  const error = isLeft ? incomplete(state, reason) : result === 'cancelled' ? cancelled(state, reason) : reason.error
  emit(turn, {
    type: 'stopped',
    result,
    ...(reason.cause === 'returned' && { output: output ?? null }),
    ...(error && { error }),
  })
}

/** The result of an undo: complete or not. */
function claimed({ left }: TaskState): 'compensated' | 'error' {
  return left === 0 ? 'compensated' : 'error'
}

function incomplete({ left }: TaskState, { error }: Closing): ErrorRecord {
  const message = `of what the task did, ${left} could not be undone: earlier runs did it, or children that say so or were told to undo nothing`
  return { name: 'TriarchError', code: 'UNDO_INCOMPLETE', message, details: { left }, ...(error && { cause: error }) }
}

/** Adds how much is not undone, which the outcome does not say and a parent has to know. */
function cancelled(state: TaskState, { error }: Closing): ErrorRecord | undefined {
  return error && { ...error, ...incompleteDetails(leftOf(state)) }
}

/** Reports the end to the task's parent, in the transition that stops the task. */
export function notifyParent(turn: Turn): void {
  const { state } = turn
  if (state.status !== 'stopped' || !state.parent || !turn.events.some((event) => event.type === 'stopped')) return
  tellParent(turn, state.parent)
}

/** Sends the task's outcome to the step of the parent that waits for it. */
export function tellParent(turn: Turn, { task, step, ordinal }: Parent): void {
  const { result, output, error, secrets } = turn.state
  // A batch only counts its children; their outputs are not sent.
  const gave = ordinal === undefined ? output !== undefined && { output: veil(output, secrets) } : { ordinal }
  const ending = { result, ...gave, ...(error !== undefined && { error }) }
  turn.posts.push({ task, message: { type: 'child', step, ...ending }, control: true })
}
