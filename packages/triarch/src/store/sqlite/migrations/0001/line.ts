// The queue of ready tasks (docs/internals/queues.md). Tasks of one workflow, version and priority are claimed in the
// order of `coalesce(readied, key)`. A task that becomes ready again goes to the end: it gets the next number of the
// sequence of keys. A task with a `share` gets its place by start-time fair queueing instead: tenants take turns by
// their weights, however many tasks each of them has.

const QUEUE = "'task ' || NEW.workflow || '@' || NEW.version"
const OF_QUEUE = `queue = ${QUEUE} AND priority = NEW.priority`
/** The place of the first task in the queue besides this one; null: there is none. */
const HEAD = `(
    SELECT coalesce(t.readied, t.key) FROM triarch_tasks t
    WHERE t.ready = 1 AND t.workflow = NEW.workflow AND t.version = NEW.version AND t.priority = NEW.priority AND t.key <> NEW.key
    ORDER BY coalesce(t.readied, t.key) LIMIT 1)`
/** The key of a row that is being inserted is not in the sequence yet. */
const NUMBER = "max(NEW.key, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'triarch_tasks'), 0))"
const PRESENT = `coalesce(${HEAD}, ${NUMBER})`
const SPAN = "1.0 / (NEW.share ->> 'weight')"

/** Moves the next start of the share on by one span, and puts the task at the beginning of that span. */
const PLACE = `BEGIN
  -- In an empty line nobody has an advance over others. Otherwise two shares are dropped whose next start is past: the same as new.
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

export const line: string = `
-- Where the next place of each tenant begins that has, or lately had, entries in a queue: of ready tasks, or of an agent (work.ts).
CREATE TABLE triarch_shares (
  queue    TEXT    NOT NULL,
  priority INTEGER NOT NULL,
  share    TEXT    NOT NULL,  -- the key of the tenant
  next     REAL    NOT NULL,
  PRIMARY KEY (queue, priority, share)
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_shares_next ON triarch_shares (queue, priority, next);

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
-- A task in quarantine does not become ready, whatever happens to it.
CREATE TRIGGER triarch_tasks_kept AFTER UPDATE OF ready ON triarch_tasks WHEN NEW.ready = 1 AND NEW.quarantined = 1
BEGIN
  UPDATE triarch_tasks SET ready = 0, control = 0 WHERE key = NEW.key;
END;
`
