// Immutable: a store that was migrated never runs it again.
//
// A node is dead when its beats no longer change, not when a clock says so (supervisor/silence.ts).
export const migration0009 = `
-- Rises with each renewal of the lease. Nodes of before 0009 leave it and the lease's length as they are.
ALTER TABLE triarch_nodes ADD COLUMN beats INTEGER NOT NULL DEFAULT 0;
ALTER TABLE triarch_nodes ADD COLUMN lease INTEGER;
-- Which process of which machine it is, as JSON.
ALTER TABLE triarch_nodes ADD COLUMN place TEXT;
-- How long a term lasts without a renewal: one that seems to last longer was begun by a clock that was ahead.
ALTER TABLE triarch_leases ADD COLUMN ttl INTEGER;
`
