import { TriarchError } from '../error/error.ts'
import type { Duration } from '../value/duration.ts'
import { checkOptions } from '../value/options.ts'
import { checkText } from '../value/text.ts'
import { type CircuitBreakerOptions, toAgentBreaker } from './breaker.ts'
import { type ConcurrencyOptions, toActionConcurrency, toConcurrency } from './concurrency.ts'
import { checkWeights, type FairnessWeights } from './fairness.ts'
import { type PolicyOptions, toRecordedPolicy } from './policy.ts'
import { type RateLimitOptions, toRateRule } from './rate.ts'
import type { RetryOptions } from './retry.ts'

/**
 * The part of an action's policy that can change while it runs: its concurrency, its rate limit, and how steps requested from then on are
 * tried. An option that is not given is as in the code.
 * @example const careful: ActionPolicy = { concurrency: 2, attemptWithin: '10s', retry: { attempts: 5 } }
 */
export interface ActionPolicy {
  /** Most attempts at a time in one process: 1 to 100,000, or in all processes together; as in the code. */
  concurrency?: number | ConcurrencyOptions
  /** Over all nodes together, also where the code has none; as in the code. */
  rateLimit?: RateLimitOptions
  /** Higher first in the agent's queue; as in the code. */
  priority?: number
  /** Complete-by of one attempt; as in the code. */
  attemptWithin?: Duration
  /** Complete-by of the whole step; as in the code. */
  stepWithin?: Duration | null
  /** An attempt without a heartbeat for this long is given up; as in the code. */
  heartbeatWithin?: Duration | null
  /** Number of attempts and the waits between them; as in the code. */
  retry?: Omit<RetryOptions, 'retryIf'>
  /** The same for its compensation; as in the code. */
  undoRetry?: Omit<RetryOptions, 'retryIf'>
}

/**
 * The part of an agent's policy that can change while it runs. Retries, timeouts and priority apply to all its actions.
 * @example
 * const policy: AgentPolicy = { concurrency: 5, actions: { charge: { attemptWithin: '10s' } } }
 */
export interface AgentPolicy extends ActionPolicy {
  /** Pauses the agent on all nodes: none of its attempts begins, for this reason; not paused. */
  paused?: string
  /**
   * The circuit breaker: options given here override those of the code; as in the code. If the code has none, the agent gets one from now
   * on, or one for each key of its other policies. If it is removed again, the steps that wait for it start at once.
   */
  circuitBreaker?: Omit<CircuitBreakerOptions, 'key'>
  /**
   * Weights of tenants in the agent's queue, which override `fairness.weight` for requests queued from then on; needs `fairness` in the
   * code; as in the code.
   */
  weights?: FairnessWeights
  /** Policies of single actions, by name, which override those of the agent. */
  actions?: Readonly<Record<string, ActionPolicy>>
}

/**
 * The part of a workflow's policy that can change while it runs.
 * @example const policy: WorkflowPolicy = { closed: 'the warehouse moves house' }
 */
export interface WorkflowPolicy {
  /** Pauses the workflow: waiting tasks are not started, for this reason. Running tasks go on until they wait. Not paused. */
  paused?: string
  /** Submissions are refused with SUBMISSIONS_PAUSED, for this reason; they are accepted. */
  closed?: string
}

const actionKeys = [
  ...(['concurrency', 'rateLimit', 'priority', 'attemptWithin', 'stepWithin', 'heartbeatWithin'] as const),
  ...(['retry', 'undoRetry'] as const),
] as const
const LONGEST_REASON = 1_000

/** Returns the policy if it is valid. Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION. */
export function checkAgentPolicy(what: string, policy: unknown): AgentPolicy {
  const given = (policy ?? null) as AgentPolicy | null
  checkOptions(what, given, [...actionKeys, 'paused', 'circuitBreaker', 'weights', 'actions'])
  const { paused, circuitBreaker, weights, actions = {}, ...own } = given ?? {}
  checkActionPolicy(what, own)
  if (paused !== undefined) checkReason(`${what}: paused`, paused)
  if (circuitBreaker !== undefined) {
    if ('key' in circuitBreaker)
      throw new TriarchError('INVALID_OPTION', `${what}: the key of a circuit breaker is that of the code`)
    toAgentBreaker(`${what}: circuitBreaker`, circuitBreaker)
  }
  if (weights !== undefined) checkWeights(`${what}: weights`, weights)
  if (typeof actions !== 'object' || actions === null)
    throw new TriarchError('INVALID_OPTION', `${what}: actions must be an object`)
  for (const [name, action] of Object.entries(actions)) {
    checkOptions(`${what}: actions.${name}`, action ?? null, actionKeys)
    toActionConcurrency(`${what}: actions.${name}: concurrency`, action.concurrency)
    checkActionPolicy(`${what}: actions.${name}`, action)
  }
  return given ?? {}
}

/** Returns the policy if it is valid. Throws UNKNOWN_OPTION, INVALID_OPTION. */
export function checkWorkflowPolicy(what: string, policy: unknown): WorkflowPolicy {
  const given = (policy ?? null) as WorkflowPolicy | null
  checkOptions(what, given, ['paused', 'closed'])
  if (given?.paused !== undefined) checkReason(`${what}: paused`, given.paused)
  if (given?.closed !== undefined) checkReason(`${what}: closed`, given.closed)
  return given ?? {}
}

/** Returns the reason if it is valid. Throws INVALID_OPTION. */
export function checkReason(what: string, reason: unknown): string {
  return checkText(what, reason, LONGEST_REASON)
}

/** The options of the policy that concern how steps are tried. */
export function stepPolicyOf(policy: ActionPolicy): PolicyOptions {
  const { priority, attemptWithin, stepWithin, heartbeatWithin, retry, undoRetry } = policy
  const all = { priority, attemptWithin, stepWithin, heartbeatWithin, retry, undoRetry }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

function checkActionPolicy(what: string, { concurrency, rateLimit, ...policies }: ActionPolicy): void {
  toConcurrency(`${what}: concurrency`, concurrency)
  if (rateLimit !== undefined) toRateRule(`${what}: rateLimit`, rateLimit)
  for (const given of [concurrency, rateLimit])
    if (typeof given === 'object' && 'key' in given)
      throw new TriarchError('INVALID_OPTION', `${what}: the key of a limit is that of the code`)
  for (const retry of [policies.retry, policies.undoRetry])
    if (retry !== undefined && 'retryIf' in retry)
      throw new TriarchError('INVALID_OPTION', `${what}: retryIf can only be given where the action is defined`)
  toRecordedPolicy(null, undefined, policies, { undo: false, verify: false })
}
