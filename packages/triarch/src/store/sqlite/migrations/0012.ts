// Immutable: a store that was migrated never runs it again.
//
// Agents whose slots are shared (docs/decisions/0081-fair-queues.md): the place of a request is then not its number, but a virtual start.
export const migration0012 = `
ALTER TABLE triarch_work ADD COLUMN place REAL;
DROP INDEX triarch_work_queue;
CREATE INDEX triarch_work_line ON triarch_work (agent, priority DESC, coalesce(place, id)) WHERE locked_by IS NULL;

-- Where the next request of each begins that has, or lately had, requests in the queue.
CREATE TABLE triarch_shares (
  queue    TEXT    NOT NULL,
  priority INTEGER NOT NULL,
  share    TEXT    NOT NULL,
  next     REAL    NOT NULL,
  PRIMARY KEY (queue, priority, share)
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_shares_next ON triarch_shares (queue, priority, next);
`
