import type { SettingState } from '../policy/setting.ts'
import { objectOf } from './legible.ts'

/** What the row of a setting holds. */
export interface StoredSetting {
  format: 1
  state: SettingState
  /** Which write made it: whoever did not hear that it was done finds so. */
  by: string
}

/** Null: it cannot be read. */
export function storedSetting(text: string): StoredSetting | null {
  const stored = objectOf<StoredSetting>(text)
  return stored?.format === 1 && typeof stored.state === 'object' && stored.state !== null ? stored : null
}

/**
 * What was done to a setting.
 * @example const back: readonly SettingMove[] = ['withdrawn', 'rolled-back']
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

/** What is kept of a change. */
export interface StoredChange {
  format: 1
  move: SettingMove
  at: number
  by: string
  reason: string
  /** Which version it was about; null: none. */
  version: number | null
  /** What it brought, where it brought something. */
  value?: unknown
}

/** Null: it cannot be read. */
export function storedChange(text: string): StoredChange | null {
  const stored = objectOf<StoredChange>(text)
  return stored?.format === 1 ? stored : null
}
