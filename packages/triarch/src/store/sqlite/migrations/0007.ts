// Immutable: a store that was migrated never runs it again.
//
// The line of ready tasks, and tasks that are set apart (docs/decisions/0042). Triggers, so that what nodes of an older
// version write obeys the same rules.
export const migration0007 = `
-- When it last became ready, as a number between the keys of tasks: null, with its submission.
ALTER TABLE triarch_tasks ADD COLUMN readied INTEGER;
-- Nobody claims it before an operator's word.
ALTER TABLE triarch_tasks ADD COLUMN quarantined INTEGER NOT NULL DEFAULT 0;
-- How often it was claimed as an orphan without a new record (claimed_seq: the last there was) in between.
ALTER TABLE triarch_tasks ADD COLUMN suspicion INTEGER NOT NULL DEFAULT 0;
ALTER TABLE triarch_tasks ADD COLUMN claimed_seq INTEGER;
-- Taken alone, and not yet acquitted; and how many owners died meanwhile.
ALTER TABLE triarch_tasks ADD COLUMN on_trial INTEGER NOT NULL DEFAULT 0;
ALTER TABLE triarch_tasks ADD COLUMN strikes INTEGER NOT NULL DEFAULT 0;

DROP INDEX triarch_tasks_ready;
DROP INDEX triarch_tasks_control;
CREATE INDEX triarch_tasks_line ON triarch_tasks (workflow, version, priority DESC, coalesce(readied, key)) WHERE ready = 1;
CREATE INDEX triarch_tasks_control ON triarch_tasks (priority DESC, coalesce(readied, key)) WHERE control = 1;
CREATE INDEX triarch_tasks_suspects ON triarch_tasks (strikes + (on_trial AND orphaned), coalesce(readied, key))
  WHERE ready = 1 AND suspicion >= 2;
CREATE INDEX triarch_tasks_apart ON triarch_tasks (key) WHERE quarantined = 1;

CREATE TRIGGER triarch_tasks_readied AFTER UPDATE OF ready ON triarch_tasks
WHEN NEW.ready = 1 AND OLD.ready = 0 AND NEW.quarantined = 0
BEGIN
  UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'triarch_tasks';
  UPDATE triarch_tasks SET readied = (SELECT seq FROM sqlite_sequence WHERE name = 'triarch_tasks') WHERE key = NEW.key;
END;
CREATE TRIGGER triarch_tasks_kept AFTER UPDATE OF ready ON triarch_tasks WHEN NEW.ready = 1 AND NEW.quarantined = 1
BEGIN
  UPDATE triarch_tasks SET ready = 0, control = 0 WHERE key = NEW.key;
END;
`
