// Immutable: a store that was migrated never runs it again.
//
// Secrets of the store (docs/decisions/0150-signed-tokens.md). The secret of direct dispatch was the holder of a lease: it goes.
export const migration0026 = `
CREATE TABLE triarch_secrets (
  number         INTEGER NOT NULL PRIMARY KEY,
  secret         TEXT    NOT NULL,
  made_at        INTEGER NOT NULL,
  overlaps_until INTEGER
) STRICT;
DELETE FROM triarch_leases WHERE name = 'triarch-direct';
`
