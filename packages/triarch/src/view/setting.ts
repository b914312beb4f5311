import type { SettingLayer, SettingOrigin } from '../definition/setting.ts'
import { type SettingGuard, type SettingState, type SettingVersion, versionFor } from '../policy/setting.ts'
import type { NodeRow, SettingChangeRow } from '../store/port.ts'
import { type SettingMove, storedChange } from '../store/version.ts'

/**
 * A version of a setting: what somebody gave, when and why. It is laid over the layers below.
 * @example
 * const { live } = await triarch.setting('triarch.engine').get()
 * const said: SettingVersionInfo | undefined = live
 */
export interface SettingVersionInfo<T = unknown> {
  /** The number of the change that brought it. */
  version: number
  /** As it was given: for an object, what of it differs from the layers below. */
  value: T
  /** When. */
  at: Date
  /** Who; `operator` where nobody said. */
  actor: string
  /** Why. */
  reason: string
}

/**
 * A value on trial: some nodes run it, the others do not yet.
 * @example
 * const { trial } = await triarch.setting('payments.limits').get()
 * if (trial) console.log(trial.stage, trial.stages)
 */
export interface SettingTrialInfo<T = unknown> extends SettingVersionInfo<T> {
  /** Which stage it is in, from 1 on. */
  stage: number
  /** How many there are before it is everywhere. */
  stages: number
  /** When this one began. */
  since: Date
  /** When the next begins; undefined: by hand. */
  until: Date | undefined
  /** What takes it back by itself. */
  guards: readonly SettingGuard[]
}

/**
 * What a node runs of a setting.
 * @example const behind = ({ version, expected }: SettingNode) => version !== expected
 */
export interface SettingNode {
  /** The id of the node. */
  id: string
  /** The version that it says it runs; 0: none of the store's. */
  version: number
  /** The version that it is to run. */
  expected: number
}

/**
 * A setting as it stands.
 * @example
 * const { live, trial, drift }: SettingInfo = await triarch.setting('triarch.agent.payments').get()
 */
export interface SettingInfo<T = unknown> {
  /** Its name. */
  name: string
  /** The number of its last change: `expected` of the next; 0: it was never changed. */
  revision: number
  /** What the store says where nothing is on trial; undefined: nothing. */
  live: SettingVersionInfo<T> | undefined
  /** What some nodes try; undefined: nothing. */
  trial: SettingTrialInfo<T> | undefined
  /** What the process that was asked makes of it, and from where; undefined: it does not know the definition. */
  here:
    | {
        value: unknown
        version: number
        origin: SettingOrigin
        origins: Readonly<Record<string, SettingOrigin>>
        /** What each layer says, the lowest first. */
        layers: readonly SettingLayer[]
      }
    | undefined
  /** The living nodes; those that do not know it run version 0 of it. */
  nodes: readonly SettingNode[]
  /** Whether one of them runs another version than it is to: for a moment after each change; for longer, where a node refuses it. */
  drift: boolean
}

/**
 * One change of a setting.
 * @example
 * const { changes } = await triarch.setting('payments.limits').history({ limit: 1 })
 * const last: SettingChange | undefined = changes[0]
 */
export interface SettingChange {
  /** Its number. */
  revision: number
  /**
   * What was done: a value everywhere (`set`), on some nodes (`staged`), on more (`advanced`), on all at last (`completed`); other nodes for
   * those that died (`placed`); a trial taken back (`withdrawn`); an earlier value again (`rolled-back`); nothing any more (`cleared`).
   */
  move: SettingMove
  /** Which version it was about; undefined: none. */
  version: number | undefined
  /** The value that it brought; undefined: it brought none. */
  value?: unknown
  /** When. */
  at: Date
  /** Who: what was given as `actor`, or `node:` and the id of the node that did it by itself. */
  actor: string
  /** Why. */
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

/** What each of the nodes runs, and is to run. A process that says nothing of settings has none. */
export function settingNodes(name: string, state: SettingState, nodes: readonly NodeRow[]): SettingNode[] {
  return nodes.map(({ id, runs }) => {
    const expected = versionFor(state, { id, labels: runs?.labels ?? {} })?.version ?? 0
    return { id, version: runs?.settings?.[name] ?? 0, expected }
  })
}

/** Null: it cannot be read. */
export function changeInfo({ revision, change: text }: SettingChangeRow): SettingChange | null {
  const change = storedChange(text)
  if (!change) return null
  const { move, at, by, reason, version } = change
  return {
    ...{ revision, move, version: version ?? undefined, at: new Date(at), actor: by, reason },
    ...('value' in change && { value: change.value }),
  }
}
