import type { Audited } from './audit.ts'
/** A setting, as the store keeps it. */
export interface SettingRow {
  /** Which. */
  name: string
  /** The number of its last change. */
  revision: number
  /** As JSON. */
  state: string
}

/** Which: these, those behind a name, or those whose names begin so. Ordered by name. */
export type SettingQuery = { names: readonly string[] } | { after: string; limit: number }

/** A change of one setting, and what is kept of it for ever: both or neither. */
export interface SettingWrite extends Audited {
  /** Which. */
  name: string
  /** The revision it was read at; 0: there was no row. */
  expected: number
  /** By the store's clock (ms since the epoch). */
  at: number
  /** As JSON. */
  state: string
  /** As JSON. */
  change: string
}

/** One change of a setting. */
export interface SettingChangeRow {
  /** Its number: the revision that it made. */
  revision: number
  /** As JSON. */
  change: string
}

/** The changes of one setting before this one, the last first. */
export interface SettingChangeQuery {
  /** Which. */
  name: string
  /** The number before which the page begins; null: with the last. */
  before: number | null
  /** Most rows. */
  limit: number
}
