// Immutable: a store that was migrated never runs it again.
//
// What each node can run, and schedules (schedule.ts).
export const migration0005 = `
-- What the node can run, as JSON.
ALTER TABLE triarch_nodes ADD COLUMN runs TEXT;

CREATE TABLE triarch_schedules (
  name       TEXT    PRIMARY KEY,
  revision   INTEGER NOT NULL,
  definition TEXT    NOT NULL,
  state      TEXT    NOT NULL,
  next_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_schedules_due ON triarch_schedules (next_at) WHERE next_at IS NOT NULL;
`
