// Immutable: a store that was migrated never runs it again.
//
// Claims on names (lock.ts): of one name at most one is held, and none waits while none is held. Tasks that come after others.
export const migration0003 = `
CREATE TABLE triarch_locks (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order of asking
  name     TEXT    NOT NULL,
  task     INTEGER NOT NULL,
  step     INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  if_held  TEXT    NOT NULL,
  held     INTEGER NOT NULL,
  since    INTEGER NOT NULL,                   -- when it was asked for; once held, when it was had
  UNIQUE (task, step)
) STRICT;
CREATE UNIQUE INDEX triarch_locks_held ON triarch_locks (name) WHERE held = 1;
CREATE INDEX triarch_locks_line ON triarch_locks (name, held DESC, priority DESC, id);

CREATE TABLE triarch_followers (
  antecedent TEXT    NOT NULL,
  task       INTEGER NOT NULL,
  PRIMARY KEY (antecedent, task)
) STRICT, WITHOUT ROWID;
`
