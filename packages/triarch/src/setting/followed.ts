import { checkWorkflowPolicy, type WorkflowPolicy } from '../definition/agent-policy.ts'
import type { Agent, Workflow } from '../definition/definition.ts'
import { type KnownSetting, knownSetting, type SettingPolicy, WORKFLOW_SETTING } from '../definition/setting.ts'
import { engineSetting, schedulesSetting } from './own.ts'
import { Values } from './values.ts'

/** What a process knows of settings: those that it names, those that its agents and workflows follow, and the engine's own. */
export function valuesOf(
  settings: readonly KnownSetting[],
  agents: Iterable<Agent>,
  workflows: readonly Workflow[],
): Values {
  const values = new Values()
  const followed = [...agents, ...workflows.map(({ definition }) => definition)].flatMap(({ policy }) =>
    policy ? [knownSetting('policy', policy.setting)] : [],
  )
  for (const one of [engineSetting, schedulesSetting, ...settings, ...followed]) values.add(one)
  return values
}

/** What a policy that follows a setting is now. Throws what its function throws. */
export function policyOf<P>(values: Values, { setting, of }: SettingPolicy<P>): P {
  return of(values.reading(knownSetting('policy', setting)).value as never)
}

/** What the code of a workflow follows, and over that what operators say. One that makes no sense counts for nothing. */
export function workflowPolicy(values: Values, workflows: readonly Workflow[], name: string): WorkflowPolicy {
  const said = values.known(`${WORKFLOW_SETTING}${name}`)
  const over = said ? (values.reading(said).value as WorkflowPolicy) : {}
  const own = workflows.findLast((it) => it.name === name && it.definition.policy !== undefined)?.definition.policy
  if (!own) return over
  try {
    return { ...checkWorkflowPolicy(`workflow "${name}"`, policyOf(values, own)), ...over }
  } catch {
    return over
  }
}

/** That submissions are refused: by which setting, and why. `all`: of every workflow. */
export interface Closure {
  setting: string
  reason: string
  all: boolean
}

/** Null: submissions of the workflow are taken. */
export function closureOf(values: Values, workflows: readonly Workflow[], name: string): Closure | null {
  const { closed: all } = values.reading(engineSetting).value
  if (all !== undefined) return { setting: engineSetting.name, reason: all, all: true }
  const { closed } = workflowPolicy(values, workflows, name)
  return closed === undefined ? null : { setting: `${WORKFLOW_SETTING}${name}`, reason: closed, all: false }
}
