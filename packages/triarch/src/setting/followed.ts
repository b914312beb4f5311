import { checkWorkflowPolicy, type WorkflowPolicy } from '../definition/agent-policy.ts'
import type { Agent, Workflow } from '../definition/definition.ts'
import { type KnownSetting, knownSetting, type SettingPolicy, WORKFLOW_SETTING } from '../definition/setting.ts'
import type { PausedThere } from '../store/port.ts'
import { isPromise } from '../value/answer.ts'
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

/**
 * What a policy that follows a setting is now. Where its function throws, or answers what makes no sense or not at once, it stays what it was
 * last (null: it never made sense), and `error` says why: what was paused, or bounded, is so still.
 */
export function policyOf<P extends object>(
  values: Values,
  policy: SettingPolicy<P>,
  check: (made: unknown) => P,
): { policy: P | null; error?: unknown } {
  try {
    const made = policy.of(values.reading(knownSetting('policy', policy.setting)).value as never)
    if (isPromise(made)) throw new TypeError('it must answer at once, and gave a promise')
    const checked = check(made)
    values.followed.set(policy, checked)
    return { policy: checked }
  } catch (error) {
    return { policy: (values.followed.get(policy) as P | undefined) ?? null, error }
  }
}

/** What the code of a workflow follows, and over that what operators say; `failed`: told why that makes no sense. */
export function workflowPolicy(
  values: Values,
  workflows: readonly Workflow[],
  name: string,
  failed: (error: unknown) => void = () => undefined,
): WorkflowPolicy {
  const said = values.known(`${WORKFLOW_SETTING}${name}`)
  const over = said ? (values.reading(said).value as WorkflowPolicy) : {}
  const own = followedBy(workflows, name)
  if (!own) return over
  const { policy, error } = policyOf(values, own, (made) => checkWorkflowPolicy(`workflow "${name}"`, made))
  if (error !== undefined) failed(error)
  return { ...policy, ...over }
}

/** What the code of a workflow follows: that of its last version which says so. */
export function followedBy(workflows: readonly Workflow[], name: string): SettingPolicy<WorkflowPolicy> | undefined {
  return workflows.findLast((it) => it.name === name && it.definition.policy !== undefined)?.definition.policy
}

/** What is told of a reason, which may be as long as a page (characters). */
const REASON_TOLD = 200

/** By which setting something is paused here: the engine's own, if that says so, or the one that its code follows. */
export function pausedThere(
  values: Values,
  own: string,
  follows: SettingPolicy<unknown> | undefined,
  reason: string,
  property: 'paused' | 'closed' = 'paused',
): PausedThere {
  const said = values.known(own)
  const reading = said && values.reading(said)
  const isOwn = !follows || (reading?.value as { [property]?: unknown } | undefined)?.[property] !== undefined
  const name = isOwn ? own : follows.setting.name
  const version = isOwn ? reading?.version : values.here(name)?.version
  return { reason: reason.slice(0, REASON_TOLD), setting: name, version: version ?? 0 }
}

/** That submissions are refused: by which setting in which version, and why. `all`: of every workflow. */
export interface Closure extends PausedThere {
  all: boolean
}

/** Null: submissions of the workflow are taken. */
export function closureOf(values: Values, workflows: readonly Workflow[], name: string): Closure | null {
  const { value, version } = values.reading(engineSetting)
  if (value.closed !== undefined) return { setting: engineSetting.name, version, reason: value.closed, all: true }
  const { closed } = workflowPolicy(values, workflows, name)
  if (closed === undefined) return null
  const by = pausedThere(values, `${WORKFLOW_SETTING}${name}`, followedBy(workflows, name), closed, 'closed')
  return { ...by, reason: closed, all: false }
}
