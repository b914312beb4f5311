// Immutable: a store that was migrated never runs it again.
//
// Answers of actions that all nodes may use (docs/decisions/0082), and which of them are not valid any more: names with the generation in
// which each was named last. The row without a name has the last generation; the row 'floor' the last that was forgotten.
export const migration0015 = `
CREATE TABLE triarch_cache (
  key          TEXT    PRIMARY KEY,
  value        TEXT,
  seen         INTEGER NOT NULL DEFAULT 0,
  at           INTEGER NOT NULL DEFAULT 0,
  expires      INTEGER NOT NULL,
  flight       TEXT,
  flight_until INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_cache_expires ON triarch_cache (expires);
CREATE TABLE triarch_cache_marks (
  name       TEXT    PRIMARY KEY,
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_cache_marks_generation ON triarch_cache_marks (generation);
`
