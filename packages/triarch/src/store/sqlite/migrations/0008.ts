// Immutable: a store that was migrated never runs it again.
//
// A child's row says which step of its parent asked for it, so that nobody has to read that out of its first record.
export const migration0008 = `
-- Null: no step did, or a version that did not keep it made the task.
ALTER TABLE triarch_tasks ADD COLUMN parent_step INTEGER;
`
