// Locks (lock.ts, deadlock.ts), and tasks that start after others. Of each name at most one request is held, and none
// waits while none is held.
export const lockTables = `
CREATE TABLE triarch_locks (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order of asking
  name     TEXT    NOT NULL,
  task     INTEGER NOT NULL,
  step     INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  if_held  TEXT    NOT NULL,                   -- 'queue', 'replace' or 'reject'
  held     INTEGER NOT NULL,                   -- 1: held; 0: waits
  since    INTEGER NOT NULL,                   -- when it was asked for; once held, when it was granted
  fence    INTEGER,                            -- the fencing number of the grant; null: waits
  tied     INTEGER NOT NULL DEFAULT 0,         -- 1: its task may wait for something besides this lock
  UNIQUE (task, step)
) STRICT;
CREATE UNIQUE INDEX triarch_locks_held ON triarch_locks (name) WHERE held = 1;
CREATE INDEX triarch_locks_line ON triarch_locks (name, held DESC, priority DESC, id);
CREATE INDEX triarch_locks_tied ON triarch_locks (name, priority DESC, id) WHERE tied = 1 AND held = 0;
CREATE INDEX triarch_locks_replacing ON triarch_locks (name, id) WHERE if_held = 'replace' AND held = 0;

-- Tasks that wait for the end of a task whose claim waits: for the search for deadlocks.
CREATE TABLE triarch_lock_parents (
  parent INTEGER NOT NULL,                     -- the key of the task that waits
  name   TEXT    NOT NULL,                     -- of the lock
  rank   INTEGER NOT NULL,                     -- the priority of the claim below zero: the last in line has the highest
  claim  INTEGER NOT NULL,                     -- the id of the claim
  PRIMARY KEY (parent, name, rank, claim)
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_lock_parents_claim ON triarch_lock_parents (claim);
CREATE TRIGGER triarch_locks_granted AFTER UPDATE OF held ON triarch_locks WHEN NEW.held = 1
BEGIN DELETE FROM triarch_lock_parents WHERE claim = NEW.id; END;
CREATE TRIGGER triarch_locks_gone AFTER DELETE ON triarch_locks
BEGIN DELETE FROM triarch_lock_parents WHERE claim = OLD.id; END;

-- fence: the last fencing number that was given. swept: the id of the claim at which the last sweep ended.
CREATE TABLE triarch_lock_counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO triarch_lock_counters (name, value) VALUES ('fence', 0), ('swept', 0);

-- Tasks that start after others: a row for each task that one still waits for.
CREATE TABLE triarch_followers (
  antecedent TEXT    NOT NULL,                 -- the id of the task it waits for
  task       INTEGER NOT NULL,
  PRIMARY KEY (antecedent, task)
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_followers_task ON triarch_followers (task);
`
