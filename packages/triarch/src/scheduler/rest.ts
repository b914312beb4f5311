import type { TaskState } from '../kernel/state.ts'
import { isOutstanding } from '../kernel/turn.ts'

/** Long sleepers and paused tasks leave memory at once: their row wakes them. */
export function maySleep(state: TaskState, wakeAt: number | null, notBefore: number): boolean {
  return state.status === 'paused' || (wakeAt !== null && wakeAt >= notBefore)
}

/** On a node without the workflow's code: whether the kernel can go no further without it. */
export function needsCode(state: TaskState): boolean {
  if (state.status === 'paused') return false
  if (!state.unwinding) return true
  return [...state.steps.values()].some((step) => step.action === null && isOutstanding(step) && !step.dispatched)
}
