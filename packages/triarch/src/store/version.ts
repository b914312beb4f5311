import type { SettingState } from '../policy/setting.ts'
import { objectOf } from './legible.ts'

/** The content of a setting's row. */
export interface StoredSetting {
  format: 1
  state: SettingState
  /** The id of the write that made it, by which a writer that got no answer finds out whether it was done. */
  by: string
}

/** Parses a row; null if it cannot be read. */
export function storedSetting(text: string): StoredSetting | null {
  const stored = objectOf<StoredSetting>(text)
  return stored?.format === 1 && typeof stored.state === 'object' && stored.state !== null ? stored : null
}

/**
 * The kind of a change of a setting.
 * @example const back: readonly SettingMove[] = ['withdrawn', 'rolled-back']
 *
 */
export type SettingMove =
  | 'set'
  | 'staged'
  | 'advanced'
  | 'completed'
  | 'placed'
  | 'withdrawn'
  | 'rolled-back'
  | 'cleared'

/** The content of a change's row. */
export interface StoredChange {
  format: 1
  move: SettingMove
  at: number
  by: string
  reason: string
  /** The version that it concerned; null: none. */
  version: number | null
  /** The new value, if there was one. */
  value?: unknown
}

/** Parses a row; null if it cannot be read. */
export function storedChange(text: string): StoredChange | null {
  const stored = objectOf<StoredChange>(text)
  return stored?.format === 1 ? stored : null
}
