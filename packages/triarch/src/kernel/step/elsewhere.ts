import type { TaskState } from '../state.ts'
import { isOutstanding } from '../turn.ts'
import type { Step } from './step.ts'

/**
 * An attempt in a process without a store outlives the owner that dispatched it. Its reply is awaited for one lease, and for another with
 * each report that it still runs.
 */

/** Until when the reply is awaited from now on, by the attempt's lease; never beyond its complete-by. */
export function awaitedUntil(state: TaskState, step: Step, at: number): number {
  return step.given ? Math.min(at + step.given.lease, completeByOf(state, step, step.given.at)) : at
}

/** The attempt's complete-by, as computed by the owner that dispatched it. */
function completeByOf({ completeBy }: TaskState, { policy, expiresAt, operation }: Step, givenAt: number): number {
  const end = givenAt + policy.completeWithin
  return operation === 'run' ? Math.min(end, expiresAt ?? end, completeBy ?? end) : end
}

/**
 * Steps whose reply is not awaited any longer. `late`: the attempt is past its complete-by; otherwise its lease has passed without a
 * report.
 */
export function overdueElsewhere(state: TaskState, at: number): { step: Step; late: boolean }[] {
  const overdue: { step: Step; late: boolean }[] = []
  for (const step of state.steps.values())
    if (step.awaited !== null && step.awaited <= at && isOutstanding(step))
      overdue.push({ step, late: step.given !== null && completeByOf(state, step, step.given.at) <= at })
  return overdue
}
