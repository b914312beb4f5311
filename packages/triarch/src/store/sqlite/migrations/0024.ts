// Immutable: a store that was migrated never runs it again.
//
// Tasks of a workflow by the time of their submission: what a list that finds few among many goes through.
export const migration0024 = `
CREATE INDEX triarch_tasks_submitted ON triarch_tasks (workflow, submitted_at);
`
