// Immutable: a store that was migrated never runs it again.
//
// History records of format 2 (docs/decisions/0050). Contracts: it takes the store from code that reads only format 1. Such a node that
// slept meanwhile, with the store open, claims nothing any more, and cannot come back as another.
export const migration0010 = `
CREATE TRIGGER triarch_tasks_readable BEFORE UPDATE OF epoch ON triarch_tasks
WHEN NEW.locked_by IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM triarch_nodes WHERE id = NEW.locked_by AND CASE WHEN json_valid(runs) THEN runs ->> '$.reads' END >= 2)
BEGIN SELECT raise(ABORT, 'this store takes code of schema version 10 or later: update this process'); END;
CREATE TRIGGER triarch_nodes_readable BEFORE INSERT ON triarch_nodes WHEN coalesce(NEW.runs ->> '$.reads', 1) < 2
  AND NOT EXISTS (SELECT 1 FROM triarch_nodes WHERE id = NEW.id)
BEGIN SELECT raise(ABORT, 'this store takes code of schema version 10 or later: update this process'); END;
`
