// Communication of tasks and agents: messages to tasks, requests of steps to agents, and the results of steps' transactions.
export const work = `
-- Messages to tasks that their owners have not consumed.
CREATE TABLE triarch_inbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  task    INTEGER NOT NULL,
  owner   TEXT,                               -- the same as locked_by of the task
  control INTEGER NOT NULL,                   -- 1: any node may claim the task for it, whatever workflows it runs
  kind    TEXT    NOT NULL,                   -- the type of the message
  name    TEXT,                               -- of an event its name, of a signal the key of its step
  message TEXT    NOT NULL                    -- JSON
) STRICT;
CREATE INDEX triarch_inbox_task ON triarch_inbox (task);
CREATE INDEX triarch_inbox_owner ON triarch_inbox (owner, id) WHERE owner IS NOT NULL;

-- The work queues of agents: a row for each attempt that waits or runs.
CREATE TABLE triarch_work (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  task             INTEGER NOT NULL,
  step             INTEGER NOT NULL,
  operation        TEXT    NOT NULL,
  attempt          INTEGER NOT NULL,
  agent            TEXT    NOT NULL,          -- the name of the queue: that of the agent, or of one of its keys
  action           TEXT    NOT NULL,
  priority         INTEGER NOT NULL,
  place            REAL,                      -- its place in the queue where tenants share it (line.ts); null: its id
  complete_within  INTEGER NOT NULL,          -- how long the attempt may take once it has begun (ms)
  heartbeat_within INTEGER,                   -- how long it may go without a heartbeat (ms)
  expires_at       INTEGER,                   -- when the whole step has to be done
  locked_by        TEXT,                      -- the node whose agent runs it; null: it waits
  complete_by      INTEGER,                   -- when this attempt has to be done
  heartbeat_by     INTEGER,                   -- when its next heartbeat is due
  withdrawn        INTEGER NOT NULL DEFAULT 0, -- 1: the task does not want it any more; it may still run
  due_at INTEGER AS (min(coalesce(complete_by, 9007199254740991), coalesce(heartbeat_by, 9007199254740991),
                         coalesce(expires_at, 9007199254740991))) VIRTUAL,
  request          TEXT    NOT NULL,          -- JSON
  UNIQUE (task, step, operation, attempt)
) STRICT;
CREATE INDEX triarch_work_line ON triarch_work (agent, priority DESC, coalesce(place, id)) WHERE locked_by IS NULL;
CREATE INDEX triarch_work_taken ON triarch_work (locked_by) WHERE locked_by IS NOT NULL;
CREATE INDEX triarch_work_due ON triarch_work (due_at);

-- Running attempts under a bound that all nodes share (docs/internals/flow-control.md). A seat whose request is gone
-- from triarch_work is free.
CREATE TABLE triarch_seats (
  name TEXT    NOT NULL,                      -- of the bound
  work INTEGER NOT NULL,                      -- the id of the request
  most INTEGER NOT NULL,                      -- the bound when the seat was taken
  PRIMARY KEY (name, work)
) STRICT, WITHOUT ROWID;

-- What transactions of steps returned, written by those transactions themselves: so each takes effect once.
CREATE TABLE triarch_effects (
  task   INTEGER NOT NULL,
  step   INTEGER NOT NULL,
  name   TEXT    NOT NULL,                    -- the idempotency key of the step
  answer TEXT    NOT NULL,                    -- JSON
  PRIMARY KEY (task, step, name)
) STRICT, WITHOUT ROWID;
`
