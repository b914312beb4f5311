-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Tasks of a workflow by the time of their submission: what a list that finds few among many goes through.
CREATE INDEX tasks_submitted ON triarch.tasks (workflow, submitted_at);
