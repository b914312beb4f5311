// Immutable: a store that was migrated never runs it again.
//
// Locks (lock.ts, circle.ts): fencing numbers, and what the search for circles and the sweep go by. Triggers keep it true where a
// process of an older version writes.
export const migration0006 = `
-- The fencing number of the grant, while it is held.
ALTER TABLE triarch_locks ADD COLUMN fence INTEGER;
-- Its task may wait for something besides this lock.
ALTER TABLE triarch_locks ADD COLUMN tied INTEGER NOT NULL DEFAULT 0;
CREATE INDEX triarch_locks_tied ON triarch_locks (name, priority DESC, id) WHERE tied = 1 AND held = 0;
CREATE INDEX triarch_locks_replacing ON triarch_locks (name, id) WHERE if_held = 'replace' AND held = 0;
CREATE INDEX triarch_followers_task ON triarch_followers (task);

-- Tasks that wait for the end of a task whose claim waits in line. The last in line has the highest rank (its priority below
-- zero) and claim.
CREATE TABLE triarch_lock_parents (
  parent INTEGER NOT NULL,
  name   TEXT    NOT NULL,
  rank   INTEGER NOT NULL,
  claim  INTEGER NOT NULL,
  PRIMARY KEY (parent, name, rank, claim)
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_lock_parents_claim ON triarch_lock_parents (claim);
CREATE TRIGGER triarch_locks_granted AFTER UPDATE OF held ON triarch_locks WHEN NEW.held = 1
BEGIN DELETE FROM triarch_lock_parents WHERE claim = NEW.id; END;
CREATE TRIGGER triarch_locks_gone AFTER DELETE ON triarch_locks
BEGIN DELETE FROM triarch_lock_parents WHERE claim = OLD.id; END;

-- fence: the last fencing number that was given; swept: the claim up to which the last sweep looked.
CREATE TABLE triarch_lock_counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO triarch_lock_counters VALUES ('fence', 0), ('swept', 0);
`
