// Immutable: a store that was migrated never runs it again.
//
// Endpoints that a prober watches (docs/decisions/0106-durable-probers.md).
export const migration0023 = `
CREATE TABLE triarch_probes (
  name    TEXT    NOT NULL PRIMARY KEY,
  at      INTEGER NOT NULL,
  state   TEXT    NOT NULL,
  results TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
`
