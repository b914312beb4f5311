// Immutable: a store that was migrated never runs it again.
//
// The audit (docs/decisions/0095): who did what, on what, when. Nothing but age and number takes rows from it. Each index ends with the order
// of reading, and the number of the row is part of each.
export const migration0017 = `
CREATE TABLE triarch_audit (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT    NOT NULL UNIQUE,
  at      INTEGER NOT NULL,
  actor   TEXT    NOT NULL,
  action  TEXT    NOT NULL,
  subject TEXT    NOT NULL,
  outcome TEXT    NOT NULL,
  text    TEXT    NOT NULL
) STRICT;
CREATE INDEX triarch_audit_at ON triarch_audit (at);
CREATE INDEX triarch_audit_actor ON triarch_audit (actor, at);
CREATE INDEX triarch_audit_action ON triarch_audit (action, at);
CREATE INDEX triarch_audit_subject ON triarch_audit (subject, at);
`
