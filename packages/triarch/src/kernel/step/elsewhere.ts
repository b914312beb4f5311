import type { TaskState } from '../state.ts'
import { isOutstanding } from '../turn.ts'
import type { Step } from './step.ts'

/** An attempt in a process that has no store, and outlives whoever gave it away: it is awaited for a lease, and longer while somebody hears of it. */

/** Until when its answer is awaited from now on, by what it was given; never beyond its complete-by. */
export function awaitedUntil(state: TaskState, step: Step, at: number): number {
  return step.given ? Math.min(at + step.given.lease, completeByOf(state, step, step.given.at)) : at
}

/** As whoever gave it away had it. */
function completeByOf({ completeBy }: TaskState, { policy, expiresAt, operation }: Step, givenAt: number): number {
  const end = givenAt + policy.completeWithin
  return operation === 'run' ? Math.min(end, expiresAt ?? end, completeBy ?? end) : end
}

/** Those whose answer is awaited no longer. `late`: it was to be done by then; else nothing was heard of it. */
export function overdueElsewhere(state: TaskState, at: number): { step: Step; late: boolean }[] {
  const overdue: { step: Step; late: boolean }[] = []
  for (const step of state.steps.values())
    if (step.awaited !== null && step.awaited <= at && isOutstanding(step))
      overdue.push({ step, late: step.given !== null && completeByOf(state, step, step.given.at) <= at })
  return overdue
}
