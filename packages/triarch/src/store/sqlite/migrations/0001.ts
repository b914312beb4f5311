// Immutable: a store that was migrated never runs it again. Changes come as the next number.
//
// The user's own tables may live in the same file (that is what `submitIn` is for), hence the prefix and a version table
// of our own instead of `user_version`. Invariants the statements keep:
//   an owned task (locked_by) is neither ready nor control nor orphaned and has no wake_at;
//   control implies ready; inbox.owner is the locked_by of its task.
export const migration0001 = `
CREATE TABLE triarch_tasks (
  key          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT    NOT NULL UNIQUE,
  workflow     TEXT    NOT NULL,
  version      TEXT    NOT NULL,
  priority     INTEGER NOT NULL,
  status       TEXT    NOT NULL,
  result       TEXT    NOT NULL,
  failures     INTEGER NOT NULL,
  locked_by    TEXT,                      -- the node that owns it
  epoch        INTEGER NOT NULL,          -- how often it was taken
  ready        INTEGER NOT NULL,          -- unowned, and somebody should take it
  control      INTEGER NOT NULL,          -- any scheduler may take it, whatever its workflow
  orphaned     INTEGER NOT NULL,          -- the owner before did not hand it back
  wake_at      INTEGER,                   -- unowned, becomes ready at this instant
  deadline     INTEGER,                   -- unowned, becomes ready and control at this instant
  base_seq     INTEGER NOT NULL,          -- the record from which it is replayed
  submitted_at INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  parent       TEXT,
  tags         TEXT,
  progress     TEXT,
  output       TEXT,
  error        TEXT,
  pause        TEXT
) STRICT;
CREATE INDEX triarch_tasks_ready ON triarch_tasks (workflow, version, priority DESC, key) WHERE ready = 1;
CREATE INDEX triarch_tasks_control ON triarch_tasks (priority DESC, key) WHERE control = 1;
CREATE INDEX triarch_tasks_sleeping ON triarch_tasks (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX triarch_tasks_owned ON triarch_tasks (locked_by) WHERE locked_by IS NOT NULL;
CREATE INDEX triarch_tasks_due ON triarch_tasks (deadline)
  WHERE deadline IS NOT NULL AND locked_by IS NULL AND control = 0;
CREATE INDEX triarch_tasks_open ON triarch_tasks (status, key) WHERE status <> 'stopped';
CREATE INDEX triarch_tasks_unhappy ON triarch_tasks (result, key) WHERE result NOT IN ('pending', 'success');
CREATE INDEX triarch_tasks_children ON triarch_tasks (parent, key) WHERE parent IS NOT NULL;

CREATE TABLE triarch_history (
  task   INTEGER NOT NULL,
  seq    INTEGER NOT NULL,
  at     INTEGER NOT NULL,
  events TEXT    NOT NULL,
  PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE triarch_inbox (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  task    INTEGER NOT NULL,
  owner   TEXT,
  control INTEGER NOT NULL,
  message TEXT    NOT NULL
) STRICT;
CREATE INDEX triarch_inbox_task ON triarch_inbox (task);
CREATE INDEX triarch_inbox_owner ON triarch_inbox (owner, id) WHERE owner IS NOT NULL;

CREATE TABLE triarch_work (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  task             INTEGER NOT NULL,
  step             INTEGER NOT NULL,
  operation        TEXT    NOT NULL,
  attempt          INTEGER NOT NULL,
  agent            TEXT    NOT NULL,
  action           TEXT    NOT NULL,
  priority         INTEGER NOT NULL,
  complete_within  INTEGER NOT NULL,
  heartbeat_within INTEGER,
  expires_at       INTEGER,
  locked_by        TEXT,                  -- the node whose agent runs it
  complete_by      INTEGER,
  heartbeat_by     INTEGER,
  withdrawn        INTEGER NOT NULL DEFAULT 0,
  request          TEXT    NOT NULL,
  due_at INTEGER AS (min(coalesce(complete_by, 9007199254740991), coalesce(heartbeat_by, 9007199254740991),
                         coalesce(expires_at, 9007199254740991))) VIRTUAL,
  UNIQUE (task, step, operation, attempt)
) STRICT;
CREATE INDEX triarch_work_queue ON triarch_work (agent, priority DESC, id) WHERE locked_by IS NULL;
CREATE INDEX triarch_work_taken ON triarch_work (locked_by) WHERE locked_by IS NOT NULL;
CREATE INDEX triarch_work_due ON triarch_work (due_at);

CREATE TABLE triarch_tags (
  name  TEXT    NOT NULL,
  value TEXT    NOT NULL,
  task  INTEGER NOT NULL,
  PRIMARY KEY (name, value, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE triarch_nodes (
  id          TEXT    PRIMARY KEY,
  roles       TEXT    NOT NULL,
  started_at  INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  dead        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE triarch_leases (
  name   TEXT    PRIMARY KEY,
  holder TEXT    NOT NULL,
  token  INTEGER NOT NULL,
  until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The state store of the Scheduler Agent Supervisor pattern, in its own words.
CREATE VIEW sas_tasks AS
SELECT id AS task_id, locked_by, deadline AS complete_by,
       CASE WHEN result NOT IN ('pending', 'success', 'warning') THEN 'Error'
            WHEN status = 'stopped' THEN 'Processed'
            WHEN status IN ('scheduled', 'pending') THEN 'Pending'
            ELSE 'Processing' END AS process_state,
       failures AS failure_count
FROM triarch_tasks;
`
