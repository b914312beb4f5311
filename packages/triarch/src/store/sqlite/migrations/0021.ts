// Immutable: a store that was migrated never runs it again.
//
// Tenants share the line of ready tasks (docs/decisions/0087-fair-claims.md): start-time fair queueing, as in the queues of agents.

const QUEUE = "'task ' || NEW.workflow || '@' || NEW.version"
const OF_QUEUE = `queue = ${QUEUE} AND priority = NEW.priority`
/** The start of whoever is next, but for this one. */
const HEAD = `(
    SELECT coalesce(t.readied, t.key) FROM triarch_tasks t
    WHERE t.ready = 1 AND t.workflow = NEW.workflow AND t.version = NEW.version AND t.priority = NEW.priority AND t.key <> NEW.key
    ORDER BY coalesce(t.readied, t.key) LIMIT 1)`
/** The number of a row that is being inserted is not in the sequence yet. */
const NUMBER = "max(NEW.key, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'triarch_tasks'), 0))"
const PRESENT = `coalesce(${HEAD}, ${NUMBER})`
const SPAN = "1.0 / (NEW.share ->> 'weight')"

/** The next start of the share, and this one, which ends where that begins. */
const PLACE = `BEGIN
  -- Nobody waits: whoever had more than others so far took it from nobody. Else those go who would not begin later than anybody new.
  DELETE FROM triarch_shares WHERE ${OF_QUEUE} AND ${HEAD} IS NULL;
  DELETE FROM triarch_shares WHERE (queue, priority, share) IN (
    SELECT queue, priority, share FROM triarch_shares WHERE ${OF_QUEUE} AND next <= ${HEAD} ORDER BY next LIMIT 2);
  INSERT INTO triarch_shares (queue, priority, share, next)
  VALUES (${QUEUE}, NEW.priority, NEW.share ->> 'key', ${PRESENT} + ${SPAN})
  ON CONFLICT (queue, priority, share) DO UPDATE SET next = max(next + ${SPAN}, excluded.next);
  UPDATE triarch_tasks SET readied = (
    SELECT CAST(next - ${SPAN} + 0.000001 AS INTEGER) FROM triarch_shares WHERE ${OF_QUEUE} AND share = NEW.share ->> 'key')
  WHERE key = NEW.key;
END;`

export const migration0021: string = `
-- Whose it is, and with which weight: JSON. Null: nobody asked.
ALTER TABLE triarch_tasks ADD COLUMN share TEXT;

DROP TRIGGER triarch_tasks_readied;
CREATE TRIGGER triarch_tasks_readied AFTER UPDATE OF ready ON triarch_tasks
WHEN NEW.ready = 1 AND OLD.ready = 0 AND NEW.quarantined = 0 AND NEW.share IS NULL
BEGIN
  UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'triarch_tasks';
  UPDATE triarch_tasks SET readied = (SELECT seq FROM sqlite_sequence WHERE name = 'triarch_tasks') WHERE key = NEW.key;
END;

CREATE TRIGGER triarch_tasks_placed AFTER INSERT ON triarch_tasks WHEN NEW.share IS NOT NULL AND NEW.ready = 1
${PLACE}
CREATE TRIGGER triarch_tasks_replaced AFTER UPDATE OF ready ON triarch_tasks
WHEN NEW.ready = 1 AND OLD.ready = 0 AND NEW.quarantined = 0 AND NEW.share IS NOT NULL
${PLACE}
`
