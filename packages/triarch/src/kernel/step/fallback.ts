import type { TaskState } from '../state.ts'
import { forgive } from './loss.ts'
import { type Fallback, resolvePolicy, type StepPolicy } from './policy.ts'
import type { Step } from './step.ts'

/** Largest number of fallbacks that one step may go through; more indicate definitions that differ between processes. */
const MOST_FALLBACKS = 10

/**
 * Whether a fallback is safe, that is, whether the step certainly has no effect yet: otherwise its work would be done twice, and the first
 * effect undone by the wrong action. An unknown outcome is harmless if the action has neither undo nor verify, because then it only reads.
 */
export function mayFallBack({ closing }: TaskState, step: Step, { action }: Fallback): boolean {
  const { operation, received, checkpoint, unknown, policy, fallbackOf } = step
  if (operation !== 'run' || closing || received || checkpoint !== undefined || policy.batch) return false
  const changes = policy.undo || policy.verify || policy.semantics === 'at-most-once'
  if (unknown && changes) return false
  return fallbackOf.length < MOST_FALLBACKS && step.action !== action && !fallbackOf.includes(action)
}

/** The fold: the step goes to another service, which knows nothing of the earlier requests, and gets a new idempotency key. */
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

/** How an attempt is made follows the fallback's policy; what the workflow asked of the step is kept. */
function policyOf(step: StepPolicy, action: StepPolicy): StepPolicy {
  const { retry, undoRetry, completeWithin, heartbeatWithin, semantics, undo, verify } = action
  const secrets = [...new Set([...step.secrets, ...action.secrets])]
  return { ...step, retry, undoRetry, completeWithin, heartbeatWithin, semantics, undo, verify, secrets }
}
