import type { BatchPolicy } from '../batch/batch.ts'
import type { Json } from '../json.ts'

/** What happens when a step's retries are used up. */
export type RescueStrategy = 'skip' | 'pause' | 'fail' | 'compensate'

/** Whether a step may be tried again if it is unknown whether the last attempt took effect. */
export type Semantics = 'at-least-once' | 'at-most-once'

/** Exponential backoff. All times in milliseconds. */
export interface RetryPlan {
  /** Attempts in all, the first included. */
  attempts: number
  /** Wait before the second attempt. */
  initial: number
  factor: number
  /** Longest wait. */
  max: number
  /** Draw each wait uniformly from [half, whole] of it ("equal jitter"). */
  jitter: boolean
}

/** The policies of one step, as plain data: they are recorded with the request, so later code changes don't alter it. */
export interface StepPolicy {
  retry: RetryPlan
  undoRetry: RetryPlan
  /** Complete-by of one attempt, counted from its start (ms). */
  completeWithin: number
  /** Complete-by of the whole step, counted from its request (ms); null is unbounded. */
  expiresIn: number | null
  /** An attempt without a heartbeat for this long is given up (ms); null needs none. */
  heartbeatWithin: number | null
  rescue: RescueStrategy
  /** The output recorded when `rescue` is `skip`. */
  substitute: Json
  /** A substitute was given, so that steps of a plan that depend on this one go on with it. */
  substituted: boolean
  semantics: Semantics
  /** Whether the action can be undone, and verified. */
  undo: boolean
  verify: boolean
  /** Work queue order: higher first. */
  priority: number
  /** The step's share of its task's progress. */
  weight: number
  /** The paths of secrets in its input, output, checkpoint and progress. */
  secrets: readonly string[]
  /** The step runs a batch of children. */
  batch: BatchPolicy | null
}

/** Hours of retries, and a day of undoing, so that a service can be repaired meanwhile; bounds of the step and the task end them sooner. */
export const defaultPolicy: StepPolicy = {
  retry: { attempts: 40, initial: 200, factor: 2, max: 10 * 60_000, jitter: true },
  undoRetry: { attempts: 60, initial: 200, factor: 2, max: 30 * 60_000, jitter: true },
  completeWithin: 30_000,
  expiresIn: null,
  heartbeatWithin: null,
  rescue: 'compensate',
  substitute: null,
  substituted: false,
  semantics: 'at-least-once',
  undo: false,
  verify: false,
  priority: 0,
  weight: 1,
  secrets: [],
  batch: null,
}

/** The policy as recorded: what differs from the defaults, and the edition of the defaults. Most steps record the edition alone. */
export type RecordedPolicy = Partial<StepPolicy> & { readonly defaults?: typeof DEFAULTS }

/** The action that runs a step instead while the service of its own action is not used, and the policy of its attempts. */
export interface Fallback {
  /** `agent.action`. */
  action: string
  policy: RecordedPolicy
}

/** Edition of `defaultPolicy`. A change of a default needs a new edition, and keeps the old defaults for what was recorded under them. */
export const DEFAULTS = 1

export function resolvePolicy(recorded: RecordedPolicy): StepPolicy {
  for (const key in recorded) {
    if (key === 'defaults') continue
    const { defaults: _, ...own } = recorded
    return { ...defaultPolicy, ...own }
  }
  return defaultPolicy
}

/**
 * The wait before the next attempt, in ms. `draw` is uniform in [0, 1).
 * Exponential backoff with equal jitter: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoff(plan: RetryPlan, failures: number, draw: number): number {
  const whole = Math.min(plan.max, plan.initial * plan.factor ** (failures - 1))
  return Math.round(plan.jitter ? whole / 2 + (whole / 2) * draw : whole)
}
