import type { Workflow } from '../definition/definition.ts'
import { exclusiveKeys } from '../definition/exclusive.ts'
import { around, inOrder, type Middleware } from '../definition/middleware.ts'
import { isTriarchError, TriarchError } from '../error/error.ts'
import type { Plan } from '../kernel/plan/plan.ts'
import { milliseconds } from '../value/duration.ts'
import { validate } from '../value/schema.ts'
import type { PlanLimits } from './limits.ts'
import { Planner, type Subscribers } from './planner.ts'

export interface PlanningOptions {
  first: number
  limits: PlanLimits
  transaction: unknown
  /** Middleware outside all other. */
  middleware?: readonly Middleware[]
  subscribers?: Subscribers
  /** Names of the locks of the task's submission; by default those that the workflow's definition gives it. */
  exclusive?: readonly string[]
}

/**
 * Runs a workflow's planning code. `first` is the id of the plan's first step. Throws PLAN_FAILED with the code's error as its cause, or
 * the typed error of a misuse.
 */
export async function makePlan(
  workflow: Workflow,
  input: unknown,
  { first, limits, transaction, middleware, subscribers, exclusive }: PlanningOptions,
): Promise<Plan> {
  const { definition, name } = workflow
  const given = definition.input ? await validate(definition.input, input, 'INVALID_INPUT', `input of ${name}`) : input
  const chain = inOrder(middleware, definition.middleware)
  const held = exclusive ?? exclusiveKeys(workflow, given, undefined).map(({ key }) => key)
  const planner = new Planner(first, workflow, { limits, chain, subscribers, held })
  try {
    const call = { workflow: name, action: undefined, input: given, transaction }
    const plan = planner.finish(
      await around(chain, 'plan', call, (changed) => definition.plan?.(changed, planner.context(transaction))),
    )
    const { runWithin } = definition
    return runWithin === undefined ? plan : { ...plan, runWithin: milliseconds(runWithin, 'runWithin') }
  } catch (cause) {
    if (isTriarchError(cause)) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new TriarchError('PLAN_FAILED', `the plan of ${name} failed: ${why}`, { cause })
  }
}
