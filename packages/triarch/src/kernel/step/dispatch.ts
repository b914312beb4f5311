import { SEPARATOR } from '../child/child.ts'
import type { TaskState } from '../state.ts'
import { isOutstanding } from '../turn.ts'
import type { Step } from './step.ts'

/**
 * The attempts that may start now: recorded as due and not dispatched yet. A paused task starts only those that an operator released, and a
 * task that unwinds starts no new `run`.
 */
export function dispatchable(state: TaskState, at: number): readonly Step[] {
  if (state.status === 'stopped') return NONE
  let found: Step[] | null = null
  for (const step of state.steps.values())
    if (isDispatchable(state, step, at)) {
      // Mostly one step is found; an array that grows from empty reserves room for seventeen elements.
      if (found) found.push(step)
      else found = [step]
    }
  return found ?? NONE
}

const NONE: readonly never[] = []

/** Whether an attempt of this step may start now; its task must not have stopped. */
export function isDispatchable(state: TaskState, step: Step, at: number): boolean {
  if (step.dispatched || Math.max(step.due, step.deferred) > at || !isOutstanding(step) || !goes(state, step))
    return false
  return !(step.operation === 'run' && state.closing && step.received?.name !== 'cancel')
}

/** Whether a pause of the task lets attempts of the step start. */
export function goes({ status }: TaskState, { released }: Step): boolean {
  return status !== 'paused' || released
}

/** Whether more than `bound` steps, timers, waits and children are outstanding at once. A plan's driver keeps to the bound itself. */
export function isWider(state: TaskState, bound: number): boolean {
  if (state.plan) return false
  let count = state.steps.size + state.timers.size + state.waits.size + state.children.size + state.locks.size
  if (count <= bound) return false
  for (const child of state.children.values()) if (child.status === 'stopped') count--
  return count > bound
}

/**
 * All attempts and the verification of a step share one key; all attempts of its undo share another. The keys of an earlier task with the
 * same id differ.
 */
export function idempotencyKey(state: TaskState, step: Step): string {
  const { id, incarnation } = state
  const task = incarnation === '' ? id : `${id}${SEPARATOR}${incarnation}`
  const base = `${task}:${step.id}`
  // Only the digits of the step follow a key's last colon, so that no id of another task leads to the same key.
  const key = step.generation === 0 ? base : `${base}${SEPARATOR}${step.generation}`
  return step.operation === 'undo' ? `${key}:undo` : key
}
