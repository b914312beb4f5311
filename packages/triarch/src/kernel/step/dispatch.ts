import { SEPARATOR } from '../child/child.ts'
import type { TaskState } from '../state.ts'
import { isOutstanding } from '../turn.ts'
import type { Step } from './step.ts'

/**
 * The attempts that may start now: recorded as due, not yet handed out. While the task is paused only those that an operator
 * set going, and no new `run` once it unwinds.
 */
export function dispatchable(state: TaskState, at: number): readonly Step[] {
  if (state.status === 'stopped') return NONE
  let found: Step[] | null = null
  for (const step of state.steps.values())
    if (isDispatchable(state, step, at)) {
      // One is usual, and what grows from nothing takes room for seventeen.
      if (found) found.push(step)
      else found = [step]
    }
  return found ?? NONE
}

const NONE: readonly never[] = []

/** The same of one step of a task that has not stopped. */
export function isDispatchable(state: TaskState, step: Step, at: number): boolean {
  if (step.dispatched || Math.max(step.due, step.deferred) > at || !isOutstanding(step) || !goes(state, step))
    return false
  return !(step.operation === 'run' && state.closing && step.received?.name !== 'cancel')
}

/** Whether attempts of the step may start, as far as pauses are concerned. */
export function goes({ status }: TaskState, { released }: Step): boolean {
  return status !== 'paused' || released
}

/** Whether more steps, timers, waits and children are outstanding at once. A plan's driver keeps to the bound by itself. */
export function isWider(state: TaskState, bound: number): boolean {
  if (state.plan) return false
  let count = state.steps.size + state.timers.size + state.waits.size + state.children.size + state.locks.size
  if (count <= bound) return false
  for (const child of state.children.values()) if (child.status === 'stopped') count--
  return count > bound
}

/**
 * The same for every attempt of a step, and for its verification; an undo has its own (the same for all its attempts). Those of a task
 * that had the same id before differ.
 */
export function idempotencyKey(state: TaskState, step: Step): string {
  const { id, incarnation } = state
  const task = incarnation === '' ? id : `${id}${SEPARATOR}${incarnation}`
  const base = `${task}:${step.id}`
  // After the last colon of a key are the digits of its step: no other task's id makes the same of it.
  const key = step.generation === 0 ? base : `${base}${SEPARATOR}${step.generation}`
  return step.operation === 'undo' ? `${key}:undo` : key
}
