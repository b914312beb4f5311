// Immutable: a store that was migrated never runs it again.
//
// Seats under bounds that all nodes share (docs/decisions/0080-shared-concurrency.md): one for each request that was taken under such a bound.
// It is void once its request is gone, whoever ended that.
export const migration0016 = `
CREATE TABLE triarch_seats (
  name TEXT    NOT NULL,
  work INTEGER NOT NULL,
  most INTEGER NOT NULL,
  PRIMARY KEY (name, work)
) STRICT, WITHOUT ROWID;
`
