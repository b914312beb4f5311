/** Releases a task from quarantine: it is claimed once more, alone, and the next failure puts it back. */
export const LIFT = `
UPDATE triarch.tasks t SET quarantined = false, suspicion = 2, strikes = 2, on_trial = false, ready = true, control = true
WHERE t.id = $1 AND t.quarantined RETURNING 1`
export const CLEAR_SUSPICION = `
UPDATE triarch.tasks t SET suspicion = 0, strikes = 0, on_trial = false
WHERE t.key = $1 AND t.epoch = $2 AND (t.locked_by = $3 OR t.locked_by IS NULL)`
