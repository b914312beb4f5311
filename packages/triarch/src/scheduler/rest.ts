import { isGated } from '../kernel/lock/gate.ts'
import type { Message } from '../kernel/message.ts'
import { FINALIZE } from '../kernel/plan/plan.ts'
import type { TaskState } from '../kernel/state.ts'
import { goes } from '../kernel/step/dispatch.ts'
import type { Step } from '../kernel/step/step.ts'
import { isOutstanding, type Turn } from '../kernel/turn.ts'

/** Whether the task may leave memory at once: it sleeps for long, is paused, or waits for a lock or dependency. Its row wakes it. */
export function maySleep(state: TaskState, wakeAt: number | null, notBefore: number): boolean {
  // A plan is being made in memory, and nothing outside of it would wake the task.
  if (state.status === 'planning') return false
  // A batch with children at work gets their messages all the time.
  for (const { outstanding } of state.batches.values()) if (outstanding.size > 0) return false
  return state.status === 'paused' || isGated(state) || (wakeAt !== null && wakeAt >= notBefore)
}

/**
 * Whether an agent has given a request back until later. Only the node with the task in memory knows of that; another owner would ask
 * again at once, and two such requests could alternate endlessly.
 */
export function isDeferred({ steps }: TaskState, at: number): boolean {
  for (const { deferred } of steps.values()) if (deferred > at) return true
  return false
}

/** Whether a node without the workflow's code cannot take the task any further. */
export function needsCode(state: TaskState): boolean {
  const isPaused = state.status === 'paused'
  if (!isPaused && !state.plan && !state.closing) return true
  return [...state.steps.values()].some(
    (step) => agentAction(step) === null && isOutstanding(step) && !step.dispatched && goes(state, step),
  )
}

/** Whether the task's code waits only for something that the engine does not know of: a promise, timer or connection of its own. */
export function isStalled({ status, pause, closing, waits, timers, steps, children }: TaskState): boolean {
  if (status !== 'running' || pause || closing || waits.size + timers.size > 0) return false
  if ([...children.values()].some((child) => child.status === 'running' && child.mode === 'call')) return false
  return ![...steps.values()].some((step) => step.held !== null || isOutstanding(step) || step.status === 'suspended')
}

/** The action that an agent runs for the step; null: the step's code runs where the task is owned. */
export function agentAction({ action }: Step): string | null {
  return action === FINALIZE ? null : action
}

/** Whether the task stopped in this turn. */
export function hasStopped({ state, events }: Turn): boolean {
  return state.status === 'stopped' && events.some(({ type }) => type === 'stopped')
}

/** Whether the message ends the step's current attempt, not an older one of the same step. */
export function endsAttempt(state: TaskState, message: Message): message is Message & { step: number } {
  if (message.type === 'cut') return true
  if (message.type !== 'reply') return false
  const step = state.steps.get(message.step)
  return !step || (step.operation === message.operation && step.attempt === message.attempt)
}
