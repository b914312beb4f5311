import type { Operation } from '../kernel/event.ts'
import type { Reply } from '../kernel/message.ts'
import type { Step, TaskState } from '../kernel/state.ts'
import { isOutstanding } from '../kernel/turn.ts'
import type { Claim } from '../store/port.ts'

/** Long sleepers and paused tasks leave memory at once: their row wakes them. */
export function maySleep(state: TaskState, wakeAt: number | null, notBefore: number): boolean {
  return state.status === 'paused' || (wakeAt !== null && wakeAt >= notBefore)
}

/** On a node without the workflow's code: whether the kernel can go no further without it. */
export function needsCode(state: TaskState): boolean {
  if (state.status === 'paused' || state.plan) return false
  if (!state.unwinding) return true
  return [...state.steps.values()].some((step) => step.action === null && isOutstanding(step) && !step.dispatched)
}

/** Whether this is the attempt of the step that is under way. */
export function isAttempt(
  { id, operation, attempt }: Step,
  other: { step: number; operation: Operation; attempt: number },
): boolean {
  return id === other.step && operation === other.operation && attempt === other.attempt
}

/** Steps whose attempt no work queue and no reply speaks of: it ran in the process of the owner before, if at all. */
export function unaccounted(state: TaskState, { work, letters }: Claim): number[] {
  const replies = letters.flatMap(({ message }) => (message.type === 'reply' ? [message] : []))
  const known = Map.groupBy([...work, ...replies], ({ step }) => step)
  const outstanding = [...state.steps.values()].filter((step) => isOutstanding(step))
  return outstanding.filter((step) => !known.get(step.id)?.some((it) => isAttempt(step, it))).map(({ id }) => id)
}

/** Whether a reply is for the attempt that is under way, not for an older one of the same step. */
export function isCurrent(state: TaskState, reply: Reply): boolean {
  const step = state.steps.get(reply.step)
  return !step || (step.operation === reply.operation && step.attempt === reply.attempt)
}
