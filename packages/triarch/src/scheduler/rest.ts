import { isGated } from '../kernel/lock/gate.ts'
import type { Message } from '../kernel/message.ts'
import { FINALIZE } from '../kernel/plan/plan.ts'
import type { TaskState } from '../kernel/state.ts'
import { goes } from '../kernel/step/dispatch.ts'
import type { Step } from '../kernel/step/step.ts'
import { isOutstanding, type Turn } from '../kernel/turn.ts'

/** Long sleepers and paused tasks leave memory at once: their row wakes them. */
export function maySleep(state: TaskState, wakeAt: number | null, notBefore: number): boolean {
  // A plan is worked out in memory: out of it, nobody would.
  if (state.status === 'planning') return false
  // One whose children are at work is told of them all the time.
  for (const { outstanding } of state.batches.values()) if (outstanding.size > 0) return false
  return state.status === 'paused' || isGated(state) || (wakeAt !== null && wakeAt >= notBefore)
}

/**
 * An agent gave a request back until later. Only who has the task in memory knows of that: whoever took it up before would
 * ask again at once, and with two such requests without end.
 */
export function isDeferred({ steps }: TaskState, at: number): boolean {
  for (const { deferred } of steps.values()) if (deferred > at) return true
  return false
}

/** On a node without the workflow's code: whether the kernel can go no further without it. */
export function needsCode(state: TaskState): boolean {
  const isPaused = state.status === 'paused'
  if (!isPaused && !state.plan && !state.closing) return true
  return [...state.steps.values()].some(
    (step) => agentAction(step) === null && isOutstanding(step) && !step.dispatched && goes(state, step),
  )
}

/** Its code asked for nothing that could move it: a promise of its own, a timer, a connection. */
export function isStalled({ status, pause, closing, waits, timers, steps, children }: TaskState): boolean {
  if (status !== 'running' || pause || closing || waits.size + timers.size > 0) return false
  if ([...children.values()].some((child) => child.status === 'running' && child.mode === 'call')) return false
  return ![...steps.values()].some((step) => step.held !== null || isOutstanding(step) || step.status === 'suspended')
}

/** The action its agent runs; null: its code is where the task is owned. */
export function agentAction({ action }: Step): string | null {
  return action === FINALIZE ? null : action
}

/** The task came to its end in this turn. */
export function hasStopped({ state, events }: Turn): boolean {
  return state.status === 'stopped' && events.some(({ type }) => type === 'stopped')
}

/** Whether the message ends the attempt that is under way, not an older one of the same step. */
export function endsAttempt(state: TaskState, message: Message): message is Message & { step: number } {
  if (message.type === 'cut') return true
  if (message.type !== 'reply') return false
  const step = state.steps.get(message.step)
  return !step || (step.operation === message.operation && step.attempt === message.attempt)
}
