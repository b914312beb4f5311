import { checkWorkflowPolicy, type WorkflowPolicy } from '../definition/agent-policy.ts'
import type { Agent, Workflow } from '../definition/definition.ts'
import { type KnownSetting, knownSetting, type SettingPolicy, WORKFLOW_SETTING } from '../definition/setting.ts'
import type { PausedThere } from '../store/port.ts'
import { isPromise } from '../value/answer.ts'
import { engineSetting, schedulesSetting } from './own.ts'
import { Values } from './values.ts'

/** The settings that a process knows: those given to it, those that its agents and workflows follow, and the engine's own. */
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
 * The current policy of a setting. If the policy's function throws, is asynchronous or returns an invalid policy, the last valid one is
 * kept (null: there was none) and `error` tells why, so that what was paused or limited stays so.
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

/** The policy that a workflow's code follows, overridden by what operators set. `failed` gets the error of an invalid policy. */
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

/** The policy that a workflow's code follows: that of the last version that has one. */
export function followedBy(workflows: readonly Workflow[], name: string): SettingPolicy<WorkflowPolicy> | undefined {
  return workflows.findLast((it) => it.name === name && it.definition.policy !== undefined)?.definition.policy
}

/** Largest length of a reported reason, which may be as long as a page (characters). */
const REASON_TOLD = 200

/** The setting that pauses something in this process: the engine's own if it does, else the one that the code follows. */
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

/** The refusal of submissions: the setting and version that cause it, and the reason. `all`: it applies to every workflow. */
export interface Closure extends PausedThere {
  all: boolean
}

/** The closure that applies to a workflow; null: its submissions are accepted. */
export function closureOf(values: Values, workflows: readonly Workflow[], name: string): Closure | null {
  const { value, version } = values.reading(engineSetting)
  if (value.closed !== undefined) return { setting: engineSetting.name, version, reason: value.closed, all: true }
  const { closed } = workflowPolicy(values, workflows, name)
  if (closed === undefined) return null
  const by = pausedThere(values, `${WORKFLOW_SETTING}${name}`, followedBy(workflows, name), closed, 'closed')
  return { ...by, reason: closed, all: false }
}
