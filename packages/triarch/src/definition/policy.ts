import { TriarchError } from '../error/error.ts'
import type { BatchPolicy } from '../kernel/batch/batch.ts'
import {
  DEFAULTS,
  defaultPolicy,
  type RecordedPolicy,
  type RescueStrategy,
  type Semantics,
  type StepPolicy,
} from '../kernel/step/policy.ts'
import { type Duration, positiveMilliseconds } from '../value/duration.ts'
import { agentOf } from '../value/name.ts'
import { checkInteger, checkOptions } from '../value/options.ts'
import { DEFAULT_PAYLOAD_LIMIT, encode } from '../value/payload.ts'
import { type RetryOptions, toRetryPlan } from './retry.ts'

/**
 * A rescue strategy; `{ skip: output }` skips the step and records the output given in its place.
 * @example const rescue: RescueOption = { skip: { id: 'none' } }
 */
export type RescueOption = RescueStrategy | { readonly skip: unknown }

/**
 * How a step is tried, bounded and rescued. The action's options are the base; the workflow overrides the rescue, the step any of them.
 * @example const careful: PolicyOptions = { attemptWithin: '5s', semantics: 'at-most-once', rescue: 'pause' }
 */
export interface PolicyOptions {
  /** Complete-by of one attempt, counted from its start; 30 s. */
  attemptWithin?: Duration
  /** Complete-by of the whole step with all its attempts, counted from its request; null (unbounded). */
  stepWithin?: Duration | null
  /** An attempt without a heartbeat for this long is given up; null (none needed). */
  heartbeatWithin?: Duration | null
  /**
   * 40 attempts from 200 ms, doubling to 10 minutes, with jitter: four hours and three quarters at most, unless the complete-by of step or
   * task ends them. Attempts that are lost with their process are not counted.
   */
  retry?: RetryOptions
  /** 60 attempts from 200 ms, doubling to 30 minutes, with jitter: a day at most. */
  undoRetry?: RetryOptions
  /** What happens when the attempts are used up; compensate. */
  rescue?: RescueOption
  /** `at-most-once`: tried once, whatever `retry` says; only an attempt that certainly did not begin is repeated. `at-least-once`. */
  semantics?: Semantics
  /** Higher first in the agent's queue: -1,000,000 to 1,000,000; 0. */
  priority?: number
  /** The step's share of the task's progress: 0 to 1,000,000; 1. */
  weight?: number
  /**
   * Paths of secrets in its input, output, checkpoint and progress, such as `card.number` or `hosts.*.password`. They are hidden from every
   * view and from recorded errors; the store keeps them.
   */
  secrets?: readonly string[]
}

/** The names of all policy options. */
export const policyKeys = [
  'attemptWithin',
  'stepWithin',
  'heartbeatWithin',
  'retry',
  'undoRetry',
  'rescue',
  'semantics',
  'priority',
  'weight',
  'secrets',
] as const

/** Options of a step that are not policies. */
interface OtherStepOptions {
  name?: unknown
  undo?: unknown
}
const stepKeys = [...policyKeys, 'name', 'undo'] as const

/** An action, as far as its policy is concerned. */
interface Policed {
  readonly key: string
  readonly definition: PolicyOptions & { readonly batch?: { readonly policy: BatchPolicy } }
}

let cached = new WeakMap<object, Map<RescueOption | undefined, RecordedPolicy>>()
/**
 * Policies that settings give to agents, by name, and to actions, by key; they override the code. If several nodes run in one process, the
 * last one to set a policy wins.
 */
const overlaid = new Map<string, PolicyOptions>()

/** Sets the policy for steps of the agent or action requested from now on; undefined: as in the code. Throws like the options of a step. */
export function overlay(of: string, policy: PolicyOptions | undefined): void {
  if (JSON.stringify(overlaid.get(of)) === JSON.stringify(policy)) return
  if (policy === undefined) overlaid.delete(of)
  else overlaid.set(of, policy)
  cached = new WeakMap()
}
/** Cache keys of local steps, by their capabilities. */
const local = [{}, {}, {}, {}]

/**
 * The policy of one step as it is recorded: the action's, overridden by the workflow's rescue and then by the step's own options; only what
 * differs from the defaults, frozen. Without policy options on the step it is the same object each time (`caps` must then be the action's
 * own). Throws UNKNOWN_OPTION, INVALID_OPTION, INVALID_DURATION, UNSERIALISABLE.
 */
export function toRecordedPolicy(
  action: Policed | null,
  workflowRescue: RescueOption | undefined,
  step: PolicyOptions | undefined,
  caps: { undo: boolean; verify: boolean },
): RecordedPolicy {
  if (step !== undefined && hasPolicy(step)) return record(action, workflowRescue, step, caps)
  const key = action ?? local[(caps.undo ? 1 : 0) + (caps.verify ? 2 : 0)] ?? caps
  const cache = cached.get(key) ?? new Map<RescueOption | undefined, RecordedPolicy>()
  const known = cache.get(workflowRescue)
  if (known !== undefined) return known
  const policy = record(action, workflowRescue, undefined, caps)
  cached.set(key, cache.set(workflowRescue, policy))
  return policy
}

/** Returns the priority if it is in range. Throws INVALID_OPTION. */
export function checkPriority(what: string, priority: unknown): number {
  return checkInteger(what, priority, -1_000_000, 1_000_000)
}

/** Returns the weight if it is in range. Throws INVALID_OPTION. */
export function checkWeight(what: string, weight: unknown): number {
  if (typeof weight === 'number' && weight >= 0 && weight <= 1e6) return weight
  throw new TriarchError('INVALID_OPTION', `${what}: weight must be a number from 0 to 1,000,000`)
}

/** Returns the paths if they are valid. Throws INVALID_OPTION. */
export function checkSecrets(what: string, secrets: unknown): string[] {
  const fine = Array.isArray(secrets) && secrets.length <= 100
  if (fine && secrets.every((path) => typeof path === 'string' && path !== '' && path.length <= 200))
    return [...secrets]
  throw new TriarchError('INVALID_OPTION', `${what}: secrets must be up to 100 paths such as "card.number"`)
}

/** The policy options among other options. */
export function policiesOf(options: object): PolicyOptions {
  const names: readonly string[] = policyKeys
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)))
}

type Rescue = Pick<StepPolicy, 'rescue' | 'substitute' | 'substituted'>

/** The strategy and the substitute of a rescue option. Throws INVALID_OPTION, UNSERIALISABLE, PAYLOAD_TOO_LARGE. */
export function toRescue(option: RescueOption, what: string): Rescue {
  if (option === 'skip' || option === 'pause' || option === 'fail' || option === 'compensate') {
    return { rescue: option, substitute: null, substituted: false }
  }
  if (typeof option === 'object' && option !== null && 'skip' in option && Object.keys(option).length === 1) {
    const substitute = encode(option.skip, `${what}.skip`, DEFAULT_PAYLOAD_LIMIT)
    return { rescue: 'skip', substitute, substituted: option.skip !== undefined }
  }
  throw new TriarchError('INVALID_OPTION', `${what} must be "skip", "pause", "fail", "compensate" or { skip: output }`)
}

function hasPolicy(step: PolicyOptions): boolean {
  for (const key in step) if (key !== 'name' && key !== 'undo') return true
  return false
}

function record(
  action: Policed | null,
  workflowRescue: RescueOption | undefined,
  step: PolicyOptions | undefined,
  caps: { undo: boolean; verify: boolean },
): RecordedPolicy {
  const what = action === null ? 'step' : action.key
  let policy: StepPolicy = { ...defaultPolicy, undo: caps.undo, verify: caps.verify }
  if (action !== null) policy = apply(policy, action.definition, what)
  if (action !== null && overlaid.size > 0)
    for (const name of [agentOf(action.key), action.key]) policy = apply(policy, overlaid.get(name) ?? {}, what)
  if (action?.definition.batch) policy = { ...policy, batch: action.definition.batch.policy }
  if (workflowRescue !== undefined) policy = { ...policy, ...toRescue(workflowRescue, 'rescue') }
  if (step !== undefined) {
    checkOptions(`options of ${what}`, step as PolicyOptions & OtherStepOptions, stepKeys)
    if (action !== null && (step.retry?.retryIf ?? step.undoRetry?.retryIf) !== undefined) {
      throw new TriarchError(
        'INVALID_OPTION',
        `options of ${what}: retryIf can only be given where the action is defined`,
      )
    }
    policy = apply(policy, step, `options of ${what}`)
  }
  if (policy.semantics === 'at-most-once') policy = { ...policy, retry: { ...policy.retry, attempts: 1 } }
  return difference(policy)
}

function apply(base: StepPolicy, options: PolicyOptions, what: string): StepPolicy {
  const {
    attemptWithin,
    stepWithin,
    heartbeatWithin,
    rescue,
    semantics = base.semantics,
    priority,
    weight,
    secrets,
  } = options
  if (semantics !== 'at-least-once' && semantics !== 'at-most-once') {
    throw new TriarchError('INVALID_OPTION', `${what}: semantics must be "at-least-once" or "at-most-once"`)
  }
  const span = (value: Duration, name: string): number => positiveMilliseconds(value, `${what}: ${name}`)
  const bound = (value: Duration | null, name: string): number | null => (value === null ? null : span(value, name))
  return {
    ...base,
    retry: toRetryPlan(options.retry, base.retry, `${what}: retry`),
    undoRetry: toRetryPlan(options.undoRetry, base.undoRetry, `${what}: undoRetry`),
    semantics,
    ...(attemptWithin !== undefined && { completeWithin: span(attemptWithin, 'attemptWithin') }),
    ...(stepWithin !== undefined && { expiresIn: bound(stepWithin, 'stepWithin') }),
    ...(heartbeatWithin !== undefined && { heartbeatWithin: bound(heartbeatWithin, 'heartbeatWithin') }),
    ...(rescue !== undefined && toRescue(rescue, `${what}: rescue`)),
    ...(priority !== undefined && { priority: checkPriority(`${what}: priority`, priority) }),
    ...(weight !== undefined && { weight: checkWeight(what, weight) }),
    ...(secrets !== undefined && { secrets: checkSecrets(what, secrets) }),
  }
}

/** What differs from the defaults, in the order of the defaults, and the edition of the defaults. */
function difference(policy: StepPolicy): RecordedPolicy {
  const recorded: Record<string, unknown> = { defaults: DEFAULTS }
  for (const key of Object.keys(defaultPolicy) as (keyof StepPolicy)[]) {
    if (!same(policy[key], defaultPolicy[key])) recorded[key] = policy[key]
  }
  return Object.freeze(recorded) as RecordedPolicy
}

function same(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))
}
