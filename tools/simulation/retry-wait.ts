import { type RetryPlan, resolvePolicy } from '../../packages/triarch/src/kernel/step/policy.ts'
import type { Operation } from '../../packages/triarch/src/kernel/step/step.ts'
import { dated, rewound, type Story } from '../../packages/triarch/test/crash/evidence.ts'

/** How a step is tried again, and how often an attempt of each operation has failed. */
interface Tried {
  plans: Record<Operation, RetryPlan | null>
  failures: Record<Operation, number>
}

/**
 * After a failed attempt the next comes no sooner and no later than the policy that was recorded with the step says: it doubles, or whatever the
 * factor is, up to the longest, and half of it at most is left to chance. `asked`: the longest that a service of this world asks for by
 * `retryAfter` (ms), which no history tells.
 */
export function retryWaits(story: Story, asked: number): string[] {
  if (rewound(story)) return []
  const known = new Map<number, Tried>()
  return dated(story).flatMap(({ event, at }) => {
    switch (event.type) {
      case 'stepRequested': {
        const { retry, undoRetry } = resolvePolicy(event.policy)
        const failures = { run: 0, verify: 0, undo: 0 }
        known.set(event.id, { plans: { run: retry, verify: null, undo: undoRetry }, failures })
        return []
      }
      // Another policy, or a budget that begins anew.
      case 'fallbackRequested':
      case 'stepRetried':
        known.delete(event.id)
        return []
      case 'stepSuspended': {
        const step = known.get(event.id)
        if (step) step.failures.run = 0
        return []
      }
      case 'continuedAsNew':
        known.clear()
        return []
      case 'attemptFailed': {
        const step = known.get(event.id)
        if (!step || event.lost) return []
        const { operation, next } = event
        const failures = ++step.failures[operation]
        const plan = step.plans[operation]
        if (!plan || next?.operation !== operation) return []
        let longest = plan.initial
        for (let n = 1; n < failures; n++) longest *= plan.factor
        longest = Math.min(plan.max, longest)
        const least = plan.jitter ? longest / 2 : longest
        const wait = next.at - at
        if (wait >= Math.floor(least) && wait <= Math.max(Math.ceil(longest), asked)) return []
        return [
          `${story.row.id}: after failure ${failures} of ${operation} the next attempt of step ${event.id} waits ${wait} ms, not ${least} to ${longest}`,
        ]
      }
      default:
        return []
    }
  })
}
