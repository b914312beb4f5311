import type { SettingLayer, SettingOrigin } from '../definition/setting.ts'
import { type SettingGuard, type SettingState, type SettingVersion, versionFor } from '../policy/setting.ts'
import type { NodeRow, SettingChangeRow } from '../store/port.ts'
import { type SettingMove, storedChange } from '../store/version.ts'

/**
 * A version of a setting: its value, when and why it was set. It overrides the layers below.
 * @example
 * const { live } = await triarch.settings.get('triarch.engine').info()
 * const said: SettingVersionInfo | undefined = live
 */
export interface SettingVersionInfo<T = unknown> {
  /** The number of the change that set it. */
  version: number
  /** The value as it was given; of an object, the properties that override the layers below. */
  value: T
  /** When it was set. */
  at: Date
  /** Who set it; `operator` if no name was given. */
  actor: string
  /** The reason. */
  reason: string
}

/**
 * A value in a canary rollout, which only some nodes use yet.
 * @example
 * const { trial } = await triarch.settings.get('payments.limits').info()
 * if (trial) console.log(trial.stage, trial.stages)
 */
export interface SettingTrialInfo<T = unknown> extends SettingVersionInfo<T> {
  /** The present stage, from 1. */
  stage: number
  /** Number of stages before the value applies everywhere. */
  stages: number
  /** When the stage began. */
  since: Date
  /** When the next stage begins; undefined: an operator advances it. */
  until: Date | undefined
  /** Measures that withdraw the value automatically. */
  guards: readonly SettingGuard[]
}

/**
 * The version of a setting that a node uses.
 * @example const behind = ({ version, expected }: SettingNode) => version !== expected
 */
export interface SettingNode {
  /** The id of the node. */
  id: string
  /** The version that it reports; 0: it uses no value of the store. */
  version: number
  /** The version that it should use. */
  expected: number
}

/**
 * The current state of a setting.
 * @example
 * const { live, drift }: SettingInfo = await triarch.settings.get('payments.limits').info()
 */
export interface SettingInfo<T = unknown> {
  /** Its name. */
  name: string
  /** The number of its last change, to be passed as `expected` with the next; 0: it was never changed. */
  revision: number
  /** The store's value outside of a canary rollout; undefined: none. */
  live: SettingVersionInfo<T> | undefined
  /** The value in a canary rollout; undefined: none. */
  trial: SettingTrialInfo<T> | undefined
  /** The value in the answering process, and its origin; undefined: the process does not have the definition. */
  here:
    | {
        value: unknown
        version: number
        origin: SettingOrigin
        origins: Readonly<Record<string, SettingOrigin>>
        /** The value of each layer, lowest first. */
        layers: readonly SettingLayer[]
      }
    | undefined
  /** The living nodes; a node that does not know the setting has version 0. */
  nodes: readonly SettingNode[]
  /** Whether a node uses another version than it should: for a moment after each change; for longer if a node refuses it. */
  drift: boolean
}

/**
 * One change of a setting.
 * @example
 * const { changes } = await triarch.settings.get('payments.limits').history({ limit: 1 })
 * const last: SettingChange | undefined = changes[0]
 */
export interface SettingChange {
  /** The number of the change. */
  revision: number
  /**
   * What was done: a value was set everywhere (`set`), on some nodes (`staged`), on more (`advanced`), on all at last (`completed`); nodes
   * were replaced because some died (`placed`); a canary value was withdrawn (`withdrawn`); an earlier value was restored (`rolled-back`);
   * the value was removed (`cleared`).
   */
  move: SettingMove
  /** The version concerned; undefined: none. */
  version: number | undefined
  /** The value that it set; undefined: none. */
  value?: unknown
  /** When it was made. */
  at: Date
  /** The given `actor`, or `node:` and the id of the node that made it automatically. */
  actor: string
  /** The reason. */
  reason: string
}

export function versionInfo({ version, value, at, by, reason }: SettingVersion): SettingVersionInfo {
  return { version, value, at: new Date(at), actor: by, reason }
}

export function trialInfo({ trial }: SettingState): SettingTrialInfo | undefined {
  if (!trial) return undefined
  const { candidate, stages, at, since, guards } = trial
  const lasts = stages[at]?.lasts ?? null
  return {
    ...versionInfo(candidate),
    ...{ stage: at + 1, stages: stages.length, since: new Date(since), guards },
    until: lasts === null ? undefined : new Date(since + lasts),
  }
}

/** The version that each node uses, and the one that it should. Processes that report no settings are left out. */
export function settingNodes(name: string, state: SettingState, nodes: readonly NodeRow[]): SettingNode[] {
  return nodes.map(({ id, runs }) => {
    const expected = versionFor(state, { id, labels: runs?.labels ?? {} })?.version ?? 0
    return { id, version: runs?.settings?.[name] ?? 0, expected }
  })
}

/** The view of a change's row; null: it cannot be read. */
export function changeInfo({ revision, change: text }: SettingChangeRow): SettingChange | null {
  const change = storedChange(text)
  if (!change) return null
  const { move, at, by, reason, version } = change
  return {
    ...{ revision, move, version: version ?? undefined, at: new Date(at), actor: by, reason },
    ...('value' in change && { value: change.value }),
  }
}
