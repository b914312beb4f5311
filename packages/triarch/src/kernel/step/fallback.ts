import type { TaskState } from '../state.ts'
import { forgive } from './loss.ts'
import { type Fallback, resolvePolicy, type StepPolicy } from './policy.ts'
import type { Step } from './step.ts'

/** Of one step, one after the other: more are a mistake of definitions that differ between processes. */
const MOST_FALLBACKS = 10

/**
 * Whether nothing of the step can be done already: otherwise it would be done twice, and what the first did would be undone by the
 * wrong action. A lost attempt of what has neither undo nor verify only read.
 */
export function mayFallBack({ closing }: TaskState, step: Step, { action }: Fallback): boolean {
  const { operation, received, checkpoint, unknown, policy, fallbackOf } = step
  if (operation !== 'run' || closing || received || checkpoint !== undefined || policy.batch) return false
  const changes = policy.undo || policy.verify || policy.semantics === 'at-most-once'
  if (unknown && changes) return false
  return fallbackOf.length < MOST_FALLBACKS && step.action !== action && !fallbackOf.includes(action)
}

/** The fold: another service is asked, which knows nothing of what the first was asked, and gets a key of its own. */
export function fallBack(state: TaskState, step: Step, { action, policy }: Fallback): void {
  if (step.action !== null) step.fallbackOf = [...step.fallbackOf, step.action]
  step.action = action
  step.policy = policyOf(step.policy, resolvePolicy(policy))
  step.generation = ++state.generation
  step.failures = { run: 0, verify: 0, undo: 0 }
  step.unknown = false
  step.progress = undefined
  forgive(step)
}

/** How an attempt is made is the action's own affair; what the workflow wants of the step stays. */
function policyOf(step: StepPolicy, action: StepPolicy): StepPolicy {
  const { retry, undoRetry, completeWithin, heartbeatWithin, semantics, undo, verify } = action
  const secrets = [...new Set([...step.secrets, ...action.secrets])]
  return { ...step, retry, undoRetry, completeWithin, heartbeatWithin, semantics, undo, verify, secrets }
}
