import type { BatchPolicy } from './batch.ts'
import type { Json } from './json.ts'

/** What happens when a step's retries are used up (DESIGN §1). */
export type RescueStrategy = 'skip' | 'pause' | 'fail' | 'compensate'

/** Whether a step may be tried again when nobody knows if the last attempt took effect. */
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
  /** It was given, so that in a plan what depends on the step goes on with it. */
  substituted: boolean
  semantics: Semantics
  /** The action can be undone, verified. */
  undo: boolean
  verify: boolean
  /** Work queue order: higher first. */
  priority: number
  /** Its share of its task's progress. */
  weight: number
  /** Where secrets are in its input, output, checkpoint and progress. */
  secrets: readonly string[]
  /** The step runs a batch of children. */
  batch: BatchPolicy | null
}

export const defaultPolicy: StepPolicy = {
  retry: { attempts: 5, initial: 200, factor: 2, max: 30_000, jitter: true },
  undoRetry: { attempts: 10, initial: 200, factor: 2, max: 60_000, jitter: true },
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

/** Only what differs from the defaults is recorded: most steps record `{}`. */
export type RecordedPolicy = Partial<StepPolicy>

export function resolvePolicy(recorded: RecordedPolicy): StepPolicy {
  for (const _ in recorded) return { ...defaultPolicy, ...recorded }
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
