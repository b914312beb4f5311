import type { Workflow } from '../definition/definition.ts'
import { checkWorkflow } from '../definition/workflow.ts'
import { TriarchError } from '../error/error.ts'
import type { Json } from '../kernel/json.ts'
import {
  finalizedBy,
  newPlanState,
  type Plan,
  type PlannedState,
  type PlannedStep,
  type PlanState,
} from '../kernel/plan/plan.ts'
import type { Redaction } from '../kernel/redaction.ts'
import { type RescueStrategy, resolvePolicy } from '../kernel/step/policy.ts'
import { DEFAULT_PLAN_LIMITS } from './limits.ts'
import { makePlan } from './planning.ts'

/** One step of a plan, for display. */
export interface PlanViewStep {
  /** Its number in the task. */
  id: number
  /** `agent.action`; null: the step takes or releases a lock, or only joins earlier steps. */
  action: string | null
  /** The name of the step: the action's, unless the plan gives another. */
  name: string
  /** `finalize`: it runs once all steps of phase `run` are done. */
  phase: 'run' | 'finalize'
  /** JSON, with `{ "$ref": [...] }` where an output will be. */
  input: Json
  /** The steps that it waits for. */
  after: readonly number[]
  /** Names of the actions that planned it, the outermost first. */
  within: readonly string[]
  /** What happens when its attempts are used up. */
  rescue: RescueStrategy
  /** How far the step is. */
  standing: PlannedState
}

/**
 * A plan, for display.
 * @example for (const { id, name, after } of (await preview(fulfil, order)).steps) console.log(id, name, after)
 */
export interface PlanView {
  /** Its steps, in the order in which they were planned. */
  steps: PlanViewStep[]
  /** The task's output, with references. */
  output: Json
}

/**
 * The plan that a workflow would make of this input. Nothing is stored, nothing runs. Throws as submit() does.
 * @example const { steps } = await preview(fulfil, { id: 'o-1', amount: 10 })
 */
export async function preview<I, O>(workflow: Workflow<I, O>, input: NoInfer<I>): Promise<PlanView> {
  checkWorkflow(workflow)
  if (!workflow.definition.plan) {
    throw new TriarchError('INVALID_OPTION', `workflow "${workflow.name}" is a function: only a plan can be previewed`)
  }
  const plan = await makePlan(workflow as Workflow, input, {
    first: 1,
    limits: DEFAULT_PLAN_LIMITS,
    transaction: undefined,
  })
  return planView(newPlanState(plan))
}

/** A plan with the states of its steps. `redaction`: hides its secrets. */
export function planView(state: PlanState, redaction?: Redaction): PlanView {
  const { plan, nodes } = state
  const steps = nodes.map(({ step, before, standing }, index) => ({
    id: plan.first + index,
    action: step.action,
    name: redaction ? redaction.texts.scrub(nameOf(step)) : nameOf(step),
    phase: step.finalizes === undefined ? ('run' as const) : ('finalize' as const),
    input: redaction ? redaction.hideOf(plan.first + index, step.input ?? null) : (step.input ?? null),
    after: step.finalizes === undefined ? before : finalizedBy(step),
    within: namesOf(plan, step.group),
    rescue: resolvePolicy(plan.policies[step.policy ?? 0] ?? {}).rescue,
    standing,
  }))
  return { steps, output: redaction ? redaction.hide(plan.output) : plan.output }
}

function nameOf({ name, action, lock, unlock }: PlannedStep): string {
  if (action !== null) return name ?? action.slice(action.indexOf('.') + 1)
  return lock !== undefined ? `lock ${lock}` : unlock !== undefined ? `unlock ${unlock}` : 'join'
}

function namesOf({ groups }: Plan, group: number | undefined): string[] {
  const names: string[] = []
  for (let at = group; at !== undefined; at = groups[at]?.group) names.unshift(groups[at]?.name ?? '')
  return names
}
