import { TriarchError } from '../error/error.ts'
import { NEW_SETTING, type SettingState } from '../policy/setting.ts'
import type { AuditEntry, StateStore } from '../store/port.ts'
import { type SettingMove, type StoredChange, type StoredSetting, storedSetting } from '../store/version.ts'

/** The decision about a setting, and what is recorded of it. */
export interface Decided {
  state: SettingState
  move: SettingMove
  version: number | null
  value?: unknown
}

/** A setting as it was read. */
export interface ReadSetting {
  state: SettingState
  /** There is a row that cannot be read here; `state` is that of no row. */
  isIllegible: boolean
  revision: number
  /** By the store's clock. */
  now: number
}

export interface SettingUpdate {
  name: string
  by: string
  reason: string
  id: () => string
  /** The entry for the audit; absent: none. */
  audit?: (made: { move: SettingMove; version: number | null; revision: number }) => AuditEntry
}

/** Number of tries, after which the change is given up because other writers were always faster. */
const PATIENCE = 20

/**
 * Changes a setting depending on its present state; `decide` returns null to change nothing. Returns whether it was changed. Throws what
 * `decide` throws, STORE_BUSY if other writers were always faster, STORE_*.
 */
export async function changeSetting(
  store: Pick<StateStore, 'now' | 'settings' | 'writeSetting'>,
  { name, by, reason, id, audit }: SettingUpdate,
  decide: (seen: ReadSetting) => Promise<Decided | null>,
): Promise<boolean> {
  for (let round = 0; round < PATIENCE; round++) {
    const [[row], now] = await Promise.all([store.settings({ names: [name] }), store.now()])
    const revision = row?.revision ?? 0
    const stored = row ? storedSetting(row.state) : null
    const isIllegible = row !== undefined && stored === null
    const made = await decide({ state: stored?.state ?? NEW_SETTING, isIllegible, revision, now })
    if (made === null) return false
    const { state, ...what } = made
    const mark = id()
    const next: StoredSetting = { format: 1, state, by: mark }
    const change: StoredChange = { format: 1, at: now, by, reason, ...what }
    const write = { name, expected: revision, at: now, state: JSON.stringify(next), change: JSON.stringify(change) }
    const entry = audit?.({ move: what.move, version: what.version, revision: revision + 1 })
    if (await store.writeSetting({ ...write, ...(entry && { audit: entry }) })) return true
    // If the answer to a write was lost, the next try finds the write by its mark.
    const [again] = await store.settings({ names: [name] })
    if (again && storedSetting(again.state)?.by === mark) return true
  }
  throw new TriarchError('STORE_BUSY', `setting "${name}" was changed by others each time it was about to be written`)
}
