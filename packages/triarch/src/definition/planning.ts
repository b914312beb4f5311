import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Plan } from '../kernel/plan.ts'
import { DEFAULT_PAYLOAD_LIMIT } from './payload.ts'
import { type PlanLimits, Planner } from './planner.ts'
import { validate } from './schema.ts'
import type { Workflow } from './workflow.ts'

export const DEFAULT_PLAN_LIMITS: PlanLimits = {
  payload: DEFAULT_PAYLOAD_LIMIT,
  steps: 20_000,
  bytes: 16 * 1024 * 1024,
}

/**
 * Runs a workflow's planning code. `first` is the id of the plan's first step. Throws PLAN_FAILED with what the code threw
 * as its cause, or the typed error of what it did wrong.
 */
export async function makePlan(
  workflow: Workflow,
  input: unknown,
  { first, limits, via }: { first: number; limits: PlanLimits; via: unknown },
): Promise<Plan> {
  const { definition, name } = workflow
  const given = definition.input ? await validate(definition.input, input, 'INVALID_INPUT', `input of ${name}`) : input
  const planner = new Planner(first, definition.rescue, limits)
  try {
    return planner.finish(await definition.plan?.(given, planner.context(via)))
  } catch (cause) {
    if (isTriarchError(cause)) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TriarchError('PLAN_FAILED', `the plan of ${name} failed: ${why}`, { cause })
  }
}
