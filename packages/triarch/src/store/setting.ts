import type { Audited } from './audit.ts'
/** A setting, as stored. */
export interface SettingRow {
  /** The name of the setting. */
  name: string
  /** The number of its last change. */
  revision: number
  /** The state, as JSON. */
  state: string
}

/** Selects settings by name, or a page behind a name. Ordered by name. */
export type SettingQuery = { names: readonly string[] } | { after: string; limit: number }

/** A write of one setting, and the record of its change, which is kept for ever: both or neither. */
export interface SettingWrite extends Audited {
  /** The name of the setting. */
  name: string
  /** The revision at which it was read; 0: there was no row. */
  expected: number
  /** The store's clock (ms since the epoch). */
  at: number
  /** The state, as JSON. */
  state: string
  /** The change, as JSON. */
  change: string
}

/** One change of a setting. */
export interface SettingChangeRow {
  /** Its number, which is the revision that it made. */
  revision: number
  /** The change, as JSON. */
  change: string
}

/** Selects changes of one setting, the latest first. */
export interface SettingChangeQuery {
  /** The name of the setting. */
  name: string
  /** The page has changes before this number; null: begins with the latest. */
  before: number | null
  /** Most rows. */
  limit: number
}
