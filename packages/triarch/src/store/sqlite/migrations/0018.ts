// Immutable: a store that was migrated never runs it again.
//
// Statistics (docs/decisions/0092-statistics.md): tallies by hour, and how far each task's history is counted.
export const migration0018 = `
CREATE TABLE triarch_statistics (
  hour     INTEGER NOT NULL,
  kind     TEXT    NOT NULL,
  workflow TEXT    NOT NULL,
  agent    TEXT    NOT NULL,
  action   TEXT    NOT NULL,
  outcome  TEXT    NOT NULL,
  error    TEXT    NOT NULL,
  tag      TEXT    NOT NULL,
  bucket   INTEGER NOT NULL,
  count    INTEGER NOT NULL,
  ms       INTEGER NOT NULL,
  PRIMARY KEY (hour, kind, workflow, agent, action, outcome, error, tag, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE triarch_followed (
  task  INTEGER PRIMARY KEY,
  seq   INTEGER NOT NULL DEFAULT 0,   -- the last record that is counted
  done  INTEGER NOT NULL DEFAULT 0,   -- it has stopped, and all is counted
  state TEXT
) STRICT;
CREATE INDEX triarch_followed_open ON triarch_followed (task) WHERE done = 0;

-- One row, once something was counted.
CREATE TABLE triarch_counting (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  settled INTEGER NOT NULL,           -- up to this key all tasks are followed
  as_of   INTEGER                     -- all that was written before it is counted
) STRICT;
`
