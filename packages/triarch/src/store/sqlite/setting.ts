import type { SettingChangeQuery, SettingChangeRow, SettingQuery, SettingRow, SettingWrite } from '../setting.ts'
import { keepAct } from './audit.ts'
import type { Database } from './database.ts'

const COLUMNS = 'name, revision, state'
const NAMED = `SELECT ${COLUMNS} FROM triarch_settings WHERE name IN (SELECT value FROM json_each(?)) ORDER BY name`
const AFTER = `SELECT ${COLUMNS} FROM triarch_settings WHERE name > ? ORDER BY name LIMIT ? + 0`
const CREATE = 'INSERT INTO triarch_settings (name, revision, at, state) VALUES (?, 1, ?, ?) ON CONFLICT DO NOTHING'
const UPDATE = 'UPDATE triarch_settings SET revision = revision + 1, at = ?, state = ? WHERE name = ? AND revision = ?'
const KEEP = 'INSERT INTO triarch_setting_changes (name, revision, change) VALUES (?, ?, ?)'
const CHANGES = `
SELECT revision, change FROM triarch_setting_changes WHERE name = ? AND revision < ? ORDER BY revision DESC LIMIT ? + 0`

/** A text that differs after each change of any setting. */
export const SETTINGS_MARK = `(SELECT count(*) || ':' || coalesce(sum(revision), 0) || ':' || coalesce(max(at), 0) FROM triarch_settings)`

export function settings(database: Database, _now: number, query: SettingQuery): SettingRow[] {
  const rows =
    'names' in query
      ? database.all<SettingRow>(NAMED, JSON.stringify(query.names))
      : database.all<SettingRow>(AFTER, query.after, query.limit)
  return rows.map((row) => ({ ...row }))
}

export function settingChanges(
  database: Database,
  _now: number,
  { name, before, limit }: SettingChangeQuery,
): SettingChangeRow[] {
  const rows = database.all<SettingChangeRow>(CHANGES, name, before ?? Number.MAX_SAFE_INTEGER, limit)
  return rows.map((row) => ({ ...row }))
}

export function writeSetting(
  database: Database,
  _now: number,
  { name, expected, at, state, change, audit }: SettingWrite,
): boolean {
  return database.transaction(() => {
    const done =
      expected === 0 ? database.run(CREATE, name, at, state) : database.run(UPDATE, at, state, name, expected)
    if (done === 0) return false
    database.run(KEEP, name, expected + 1, change)
    if (audit) keepAct(database, audit)
    return true
  })
}
