// Immutable: a store that was migrated never runs it again.
//
// Circuit breakers (docs/decisions/0067): a row for each, written by compare-and-set.
export const migration0011 = `
CREATE TABLE triarch_breakers (
  name    TEXT    PRIMARY KEY,
  version INTEGER NOT NULL,
  state   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
`
