// Immutable: a store that was migrated never runs it again.
//
// Records lie in the order in which they were written (docs/decisions/0130-records-in-order.md); an index finds those of a task.
export const migration0025 = `
CREATE TABLE triarch_records (
  task   INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  events TEXT    NOT NULL,
  PRIMARY KEY (task, seq)
) STRICT;
INSERT INTO triarch_records (task, seq, at, events) SELECT task, seq, at, events FROM triarch_history;
DROP TABLE triarch_history;
ALTER TABLE triarch_records RENAME TO triarch_history;
`
