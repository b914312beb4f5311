import type { Json } from '../kernel/json.ts'
import type { Agent } from './agent.ts'
import type { ActionPlanContext } from './plan.ts'
import type { PolicyOptions } from './policy.ts'
import type { StandardSchema } from './schema.ts'

/** What an attempt knows and may do. */
export interface StepContext {
  /** Fires at complete-by, and when the task is cancelled: pass it on to everything that waits. */
  readonly signal: AbortSignal
  /** The instant by which this attempt must be done; a later result counts for nothing. */
  readonly completeBy: Date
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The same for every attempt of this step: give it to the service, so that it does the work once. */
  readonly idempotencyKey: string
  readonly taskId: string
  readonly stepId: number
  /** What an earlier attempt saved with its last heartbeat. */
  readonly checkpoint: Json | undefined
  /** Says that the attempt is alive, how far it is, and what the next attempt should know. JSON only. */
  heartbeat(beat?: { progress?: unknown; checkpoint?: unknown }): void
}

/** Whether an attempt of unknown outcome took effect, as the service says. */
export type Verification<O> = { done: true; output: O } | { done: false } | 'unknown'

/** One kind of step. `I` is what `run` is given, `O` what it returns (before the output schema). */
export interface ActionDefinition<I = unknown, O = unknown> extends PolicyOptions {
  /** Checks the input where the step is requested, and again where it runs; `run` is given what it makes of it. */
  input?: StandardSchema
  /** Checks what `run` (or `verify`) gives before it is recorded. */
  output?: StandardSchema
  /** Does the work. May run more than once: see `idempotencyKey`. Missing only where `plan` is given. */
  run?(input: I, step: StepContext): O | Promise<O>
  /** Plans other actions, and (by `plan.self`) this one's own `run`, when the action is planned. Answers at once. */
  plan?(input: unknown, plan: ActionPlanContext<unknown, unknown>): unknown
  /** In a plan: runs once all its steps have run, in the order of planning. May run more than once. */
  finalize?(done: { input: I; output: unknown }, step: StepContext): unknown
  /** Takes back what `run` did. May run more than once. */
  undo?(done: { input: I; output: unknown }, step: StepContext): unknown
  /** Asks the service, by the idempotency key, whether a lost attempt took effect. Must not change anything. */
  verify?(input: I, step: StepContext): Verification<O> | Promise<Verification<O>>
}

/** A defined action. `I` is what a workflow gives, `O` what it gets back (as JSON has it). */
export interface Action<I = unknown, O = unknown> {
  readonly agent: Agent
  readonly name: string
  /** `agent.action`. */
  readonly key: string
  readonly definition: ActionDefinition
  /** Plans other actions. */
  readonly plans: boolean
  /** Exists for the compiler only. */
  readonly '~types'?: { readonly input: I; readonly output: O }
}

/** The action whose `run` finalizes another's. */
export function finalizeKey(key: string): string {
  return `${key}:finalize`
}
