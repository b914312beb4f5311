// Immutable: a store that was migrated never runs it again.
//
// API keys (docs/decisions/0107-keys.md).
export const migration0022 = `
CREATE TABLE triarch_keys (
  name     TEXT    NOT NULL PRIMARY KEY,
  revision INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  ends_at  INTEGER,
  used_at  INTEGER,
  state    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
-- One row: another text with each change of any key.
CREATE TABLE triarch_key_changes (one INTEGER NOT NULL PRIMARY KEY, mark TEXT NOT NULL) STRICT;
`
