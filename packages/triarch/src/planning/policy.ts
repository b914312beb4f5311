import type { PlannedStepOptions } from '../definition/call.ts'
import { type RescueOption, toRecordedPolicy } from '../definition/policy.ts'
import { TriarchError } from '../error/error.ts'
import { type RecordedPolicy, resolvePolicy } from '../kernel/step/policy.ts'

/**
 * The policy of the single step that finalizes several in a transaction: the fewest attempts of any of them, with the waits of that one;
 * the longest time of one attempt; the nearest complete-by of a step. The rescue is the workflow's.
 */
export function finalizePolicy(
  finalized: readonly RecordedPolicy[],
  rescue: RescueOption | undefined,
  secrets: readonly string[],
): RecordedPolicy {
  const policies = finalized.map(resolvePolicy)
  const [{ attempts, ...backoff }] = policies.map(({ retry }) => retry).sort((a, b) => a.attempts - b.attempts) as [
    { attempts: number; initial: number; factor: number; max: number; jitter: boolean },
  ]
  const bounds = policies.flatMap(({ expiresIn }) => expiresIn ?? [])
  const options = {
    retry: { attempts, backoff },
    attemptWithin: Math.max(...policies.map(({ completeWithin }) => completeWithin)),
    ...(bounds.length > 0 && { stepWithin: Math.min(...bounds) }),
    ...(secrets.length > 0 && { secrets }),
  }
  return toRecordedPolicy(null, rescue, options, { undo: false, verify: true })
}

/** Options that can apply to all steps that an action plans. */
const groupOptions: readonly string[] = ['name', 'after', 'rescue']

/** Refuses other options, because an action that plans has no step of its own. Throws INVALID_OPTION. */
export function checkGroup(key: string, options: PlannedStepOptions): void {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const vain = given.find(([name]) => !groupOptions.includes(name))?.[0]
  if (vain === undefined) return
  throw new TriarchError(
    'INVALID_OPTION',
    `options of ${key}: ${vain} is for steps, and this plans some: give it with them`,
  )
}
