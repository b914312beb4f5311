import type { SettingGuard } from '../policy/setting.ts'
import type { Duration } from '../value/duration.ts'
import type { SettingChange, SettingInfo } from '../view/setting.ts'

/**
 * Why a setting is changed, and by whom: both are kept with the change.
 * @example await triarch.setting('payments.limits').rollback({ reason: 'too many refusals', actor: 'ada' })
 */
export interface SettingChangeOptions {
  /** Why: up to 1,000 characters. */
  reason: string
  /** Who; `operator`. */
  actor?: string
  /** The revision that it was read at: if it is another by now, SETTING_CHANGED. Whichever it is when not given. */
  expected?: number
}

/**
 * Where a value is tried before it is everywhere.
 * @example const stages: SettingStageOptions[] = [{ labels: { canary: 'yes' } }, { share: 0.5, lasts: '10m' }]
 */
export interface SettingStageOptions {
  /** Of the nodes that live, rounded up: above 0, to 1; all that have the labels. */
  share?: number
  /** Only nodes that have all of these; any. */
  labels?: Readonly<Record<string, string>>
  /** After so long the next stage begins, or it is everywhere; by hand when not given. */
  lasts?: Duration
}

/**
 * The same, and where it begins.
 * @example
 * const stages = [{ share: 0.1, lasts: '10m' }] as const
 * const guards = [{ metric: 'failure-rate', agent: 'payments', above: 0.2, minimum: 20 }] as const
 * await triarch.setting('payments.limits').set({ amount: 500 }, { reason: 'audit', stages, guards })
 */
export interface SettingSetOptions extends SettingChangeOptions {
  /** On which nodes it is tried, one stage after the other, up to 10; on all at once when not given. */
  stages?: readonly SettingStageOptions[]
  /**
   * What takes it back by itself while it is tried, up to 10: on a node that tries it more than `above` (0 to 1) of at least `minimum` attempts of
   * the agent failed; or work for the agent waits for longer than `above` ms. None.
   */
  guards?: readonly SettingGuard[]
}

/**
 * Which changes to list, and how many.
 * @example const { changes } = await triarch.setting('payments.limits').history({ limit: 20 })
 */
export interface SettingHistoryOptions {
  /** `next` of the page before. */
  cursor?: number
  /** Changes a page: 1 to 1,000; 100. */
  limit?: number
}

/**
 * Some of the changes of a setting, the last first.
 * @example const { changes, next }: SettingHistory = await triarch.setting('payments.limits').history()
 */
export interface SettingHistory {
  /** The changes of this page. */
  changes: SettingChange[]
  /** Cursor of the next page; absent on the last. */
  next?: number
}

/**
 * Which settings to list, and how many.
 * @example const { settings } = await triarch.settings({ limit: 50 })
 */
export interface SettingsOptions {
  /** `next` of the page before. */
  cursor?: string
  /** Settings a page: 1 to 1,000; 100. */
  limit?: number
}

/**
 * Some of the settings, by name.
 * @example for (const { name, drift } of (await triarch.settings()).settings) console.log(name, drift)
 */
export interface SettingPage {
  /** Those that were ever changed, and those that the process that was asked knows. */
  settings: SettingInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/**
 * One setting: what it is, and how to change it for all nodes.
 * @example
 * const handle: SettingHandle = triarch.setting('triarch.agent.payments')
 * await handle.change({ paused: 'the bank is down' }, { reason: 'incident 12', actor: 'ada' })
 */
export interface SettingHandle<T = unknown> {
  /** Its name. */
  readonly name: string
  /**
   * As it stands. Throws UNKNOWN_SETTING.
   * @example const { live, here, nodes } = await triarch.setting('payments.limits').get()
   */
  get(): Promise<SettingInfo<Partial<T>>>
  /**
   * What was ever done to it, the last first. Throws INVALID_OPTION.
   * @example const { changes } = await triarch.setting('payments.limits').history()
   */
  history(options?: SettingHistoryOptions): Promise<SettingHistory>
  /**
   * What the store says from now on, in place of what it said; of an object, the properties given count over the layers below. Checked before
   * it is stored. Throws INVALID_SETTING, UNKNOWN_SETTING, SETTING_CHANGED, INVALID_OPTION, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example await triarch.setting('payments.limits').set({ amount: 500 }, { reason: 'audit', actor: 'ada' })
   */
  set(value: Partial<T> | T, options: SettingSetOptions): Promise<SettingInfo<Partial<T>>>
  /**
   * The same, but of an object only these properties are others; null: the store says nothing of that property any more. Throws as set().
   * @example
   * const handle = triarch.setting('triarch.agent.payments')
   * await handle.change({ paused: null }, { reason: 'the bank is back' })
   */
  change(part: { [K in keyof T]?: T[K] | null }, options: SettingSetOptions): Promise<SettingInfo<Partial<T>>>
  /**
   * A value on trial goes on: to the next stage, or (`all`) everywhere at once. Throws SETTING_CHANGED where nothing is on trial.
   * @example await triarch.setting('payments.limits').advance({ reason: 'all is well' })
   */
  advance(options: SettingChangeOptions & { all?: boolean }): Promise<SettingInfo<Partial<T>>>
  /**
   * A value on trial is taken back; else the value before the last one counts again, or (`to`) that of this version, as a new one. Throws
   * UNKNOWN_SETTING where there is no such version, and as set().
   * @example await triarch.setting('payments.limits').rollback({ reason: 'too many refusals' })
   */
  rollback(options: SettingChangeOptions & { to?: number }): Promise<SettingInfo<Partial<T>>>
  /**
   * The store says nothing any more: the layers below count. Throws SETTING_CHANGED.
   * @example await triarch.setting('payments.limits').clear({ reason: 'the code says it now' })
   */
  clear(options: SettingChangeOptions): Promise<SettingInfo<Partial<T>>>
}
