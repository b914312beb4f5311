// Immutable: a store that was migrated never runs it again. Changes come as the next number.
//
// What steps and workflows log. A task's lines go with it, whichever version of the code drops it.
export const migration0013 = `
CREATE TABLE triarch_logs (
  task  INTEGER PRIMARY KEY,
  seq   INTEGER NOT NULL,  -- of the last line
  bytes INTEGER NOT NULL,  -- of all lines that there ever were
  shed  INTEGER NOT NULL,  -- lines that had to go
  run   INTEGER NOT NULL,  -- the last line of the workflow's code: its run, and its number there
  mark  INTEGER NOT NULL
) STRICT;
CREATE TABLE triarch_log_lines (
  task      INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  bytes     INTEGER NOT NULL,  -- of all lines up to this one
  source    TEXT,
  n         INTEGER NOT NULL,
  at        INTEGER NOT NULL,
  level     INTEGER NOT NULL,
  step      INTEGER NOT NULL,
  operation TEXT,
  attempt   INTEGER,
  node      TEXT,
  line      TEXT    NOT NULL,
  PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX triarch_log_lines_said ON triarch_log_lines (task, source, n) WHERE source IS NOT NULL;
CREATE TRIGGER triarch_tasks_logged AFTER DELETE ON triarch_tasks BEGIN
  DELETE FROM triarch_log_lines WHERE task = OLD.key;
  DELETE FROM triarch_logs WHERE task = OLD.key;
END;
`
