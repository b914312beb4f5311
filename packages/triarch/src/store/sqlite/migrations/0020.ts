// Immutable: a store that was migrated never runs it again.
//
// Counting anew (docs/decisions/0092-statistics.md): what was counted is dropped bit by bit.
export const migration0020 = `
ALTER TABLE triarch_counting ADD COLUMN anew INTEGER NOT NULL DEFAULT 0; -- what was counted is being dropped
ALTER TABLE triarch_counting ADD COLUMN since INTEGER;                   -- when that was asked for, the last time
ALTER TABLE triarch_counting ADD COLUMN goal INTEGER;                    -- the highest key of a task then
`
