import type { Setting } from '../definition/setting.ts'
import type { SettingGuard } from '../policy/setting.ts'
import type { Duration } from '../value/duration.ts'
import type { SettingChange, SettingInfo } from '../view/setting.ts'

/**
 * Why a setting is changed, and by whom; both are stored with the change.
 * @example await triarch.settings.get('payments.limits').rollback({ reason: 'refusals', actor: 'ada' })
 */
export interface SettingChangeOptions {
  /** The reason: up to 1,000 characters. */
  reason: string
  /** The actor; `operator` by default. */
  actor?: string
  /** The revision that was read: if it is another by now, SETTING_CHANGED is thrown. Not checked by default. */
  expected?: number
}

/**
 * Nodes on which a value is tried before it applies everywhere.
 * @example const stages: SettingStageOptions[] = [{ labels: { canary: 'yes' } }, { share: 0.5, lasts: '10m' }]
 */
export interface SettingStageOptions {
  /** Share of the living nodes, rounded up: above 0, up to 1; by default all that have the labels. */
  share?: number
  /** Only nodes that have all of these labels; any by default. */
  labels?: Readonly<Record<string, string>>
  /** After this long the next stage begins, or the value applies everywhere; only by hand by default. */
  lasts?: Duration
}

/**
 * Why a setting is changed, and in which stages.
 * @example
 * const stages = [{ share: 0.1, lasts: '10m' }] as const
 * const guards = [{ metric: 'failure-rate', agent: 'payments', above: 0.2, minimum: 20 }] as const
 * const handle = triarch.settings.get('payments.limits')
 * await handle.set({ amount: 500 }, { reason: 'audit', stages, guards })
 */
export interface SettingSetOptions extends SettingChangeOptions {
  /** The nodes on which the value is tried, one stage after the other, up to 10; by default it applies everywhere at once. */
  stages?: readonly SettingStageOptions[]
  /**
   * Conditions that revert the value while it is tried, up to 10: on a node that tries it, more than `above` (0 to 1) of at least
   * `minimum` attempts of the agent failed; or work for the agent waits longer than `above` ms. None by default.
   */
  guards?: readonly SettingGuard[]
}

/**
 * Which changes to list, and how many.
 * @example const { changes } = await triarch.settings.get('payments.limits').history({ limit: 20 })
 */
export interface SettingHistoryOptions {
  /** `next` of the previous page. */
  cursor?: number
  /** Changes a page: 1 to 1,000; 100. */
  limit?: number
}

/**
 * A page of the changes of a setting, latest first.
 * @example const { changes, next }: SettingHistory = await triarch.settings.get('payments.limits').history()
 */
export interface SettingHistory {
  /** The changes of this page. */
  changes: SettingChange[]
  /** Cursor of the next page; absent on the last. */
  next?: number
}

/**
 * Which settings to list, and how many.
 * @example const { settings } = await triarch.settings.list({ limit: 50 })
 */
export interface SettingsOptions {
  /** `next` of the previous page. */
  cursor?: string
  /** Settings a page: 1 to 1,000; 100. */
  limit?: number
}

/**
 * A page of the settings, by name.
 * @example for (const { name, drift } of (await triarch.settings.list()).settings) console.log(name, drift)
 */
export interface SettingPage {
  /** Settings that were ever changed, and those that the answering process knows. */
  settings: SettingInfo[]
  /** Cursor of the next page; absent on the last. */
  next?: string
}

/**
 * One setting: its values, and changing it for all nodes.
 * @example
 * const handle: SettingHandle = triarch.settings.get('triarch.agent.payments')
 * await handle.change({ paused: 'the bank is down' }, { reason: 'incident 12', actor: 'ada' })
 */
export interface SettingHandle<T = unknown> {
  /** Its name. */
  readonly name: string
  /**
   * Its current state. Throws UNKNOWN_SETTING.
   * @example const { live, here, nodes } = await triarch.settings.get('payments.limits').info()
   */
  info(): Promise<SettingInfo<Partial<T>>>
  /**
   * Its changes, latest first. Throws INVALID_OPTION.
   * @example const { changes } = await triarch.settings.get('payments.limits').history()
   */
  history(options?: SettingHistoryOptions): Promise<SettingHistory>
  /**
   * Replaces the value in the store; of an object, the given properties override the layers below. The value is checked before it is
   * stored. Throws INVALID_SETTING, UNKNOWN_SETTING, SETTING_CHANGED, INVALID_OPTION, UNSERIALISABLE, PAYLOAD_TOO_LARGE.
   * @example await triarch.settings.get('payments.limits').set({ amount: 500 }, { reason: 'audit' })
   */
  set(value: Partial<T> | T, options: SettingSetOptions): Promise<SettingInfo<Partial<T>>>
  /**
   * Replaces only these properties of an object in the store; null removes a property. Throws as set().
   * @example
   * const handle = triarch.settings.get('triarch.agent.payments')
   * await handle.change({ paused: null }, { reason: 'the bank is back' })
   */
  change(part: { [K in keyof T]?: T[K] | null }, options: SettingSetOptions): Promise<SettingInfo<Partial<T>>>
  /**
   * Advances a value that is being tried to the next stage, or (`all`) everywhere at once. Throws SETTING_CHANGED if no value is being
   * tried.
   * @example await triarch.settings.get('payments.limits').advance({ reason: 'all is well' })
   */
  advance(options: SettingChangeOptions & { all?: boolean }): Promise<SettingInfo<Partial<T>>>
  /**
   * Reverts a value that is being tried; otherwise restores the previous value, or (`to`) that of a version, as a new version. Throws
   * UNKNOWN_SETTING if there is no such version, and as set().
   * @example await triarch.settings.get('payments.limits').rollback({ reason: 'too many refusals' })
   */
  rollback(options: SettingChangeOptions & { to?: number }): Promise<SettingInfo<Partial<T>>>
  /**
   * Removes the value from the store: the layers below apply. Throws SETTING_CHANGED.
   * @example await triarch.settings.get('payments.limits').clear({ reason: 'the code says it now' })
   */
  clear(options: SettingChangeOptions): Promise<SettingInfo<Partial<T>>>
}

/**
 * The settings.
 * @example const { settings }: SettingPage = await triarch.settings.list()
 */
export interface SettingCollection {
  /**
   * A setting, by its definition or its name; whether it exists is only checked when it is used. Changing it requires that the answering
   * process knows its definition. Throws INVALID_OPTION, INVALID_NAME.
   * @example
   * const handle = triarch.settings.get('triarch.agent.payments')
   * await handle.change({ concurrency: 5 }, { reason: 'the bank asked for it' })
   */
  get<T = unknown>(of: string | Setting<T>): SettingHandle<T>

  /**
   * Settings by name, a page at a time: those that were ever changed, and those that the answering process knows. Throws UNKNOWN_OPTION,
   * INVALID_OPTION.
   * @example
   * const { settings, next } = await triarch.settings.list({ limit: 50 })
   * for (const { name, live, drift } of settings) console.log(name, live?.value, drift)
   */
  list(options?: SettingsOptions): Promise<SettingPage>
}
