import type { SettingChangeRow, SettingRow } from 'triarch/store'
import { withAct } from './audit.ts'
import type { Row } from './query.ts'

export const SETTINGS_NAMED: string = `
SELECT s.name, s.revision, s.state FROM triarch.settings s WHERE s.name = ANY ($1::text[]) ORDER BY s.name`
export const SETTINGS_AFTER: string = `
SELECT s.name, s.revision, s.state FROM triarch.settings s WHERE s.name > $1 ORDER BY s.name LIMIT $2`
export const SETTING_CHANGES: string = `
SELECT c.revision, c.change FROM triarch.setting_changes c
WHERE c.name = $1 AND ($2::bigint IS NULL OR c.revision < $2) ORDER BY c.revision DESC LIMIT $3`
const KEEP = `
INSERT INTO triarch.setting_changes (name, revision, change) SELECT w.name, w.revision, $4 FROM w RETURNING 1`
const CREATE = `w AS (INSERT INTO triarch.settings (name, revision, at, state) VALUES ($1, 1, $2, $3)
  ON CONFLICT DO NOTHING RETURNING name, revision)`
const UPDATE = `w AS (UPDATE triarch.settings s SET revision = s.revision + 1, at = $2, state = $3
  WHERE s.name = $1 AND s.revision = $5 RETURNING s.name, s.revision)`
export const CREATE_SETTING: string = `WITH ${CREATE}${KEEP}`
export const CREATE_SETTING_ACT: string = withAct(KEEP, 4, 'true', CREATE)
export const UPDATE_SETTING: string = `WITH ${UPDATE}${KEEP}`
export const UPDATE_SETTING_ACT: string = withAct(KEEP, 5, 'true', UPDATE)

/** A text that differs after each change of any setting. */
export const SETTINGS_MARK: string = `
(SELECT concat(count(*), ':', coalesce(sum(s.revision), 0), ':', coalesce(max(s.at), 0)) FROM triarch.settings s)`

export function settingOf(row: Row): SettingRow {
  const [name, revision, state] = row as [string, number, string]
  return { name, revision, state }
}

export function settingChangeOf(row: Row): SettingChangeRow {
  const [revision, change] = row as [number, string]
  return { revision, change }
}
