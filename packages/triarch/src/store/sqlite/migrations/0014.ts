// Immutable: a store that was migrated never runs it again.
//
// Settings (docs/decisions/0084): a row for each, written by compare-and-set, and a row for each change.
export const migration0014 = `
CREATE TABLE triarch_settings (
  name     TEXT    PRIMARY KEY,
  revision INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  state    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE triarch_setting_changes (
  name     TEXT    NOT NULL,
  revision INTEGER NOT NULL,
  change   TEXT    NOT NULL,
  PRIMARY KEY (name, revision)
) STRICT, WITHOUT ROWID;
`
