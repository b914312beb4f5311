// Tasks with their histories and tags. Statements keep these rules:
//   a task that a node owns (`locked_by`) is not `ready`, not `control` and not `orphaned`, and has no `wake_at`;
//   a task that is `control` is also `ready`.
export const tasks = `
CREATE TABLE triarch_tasks (
  key          INTEGER PRIMARY KEY AUTOINCREMENT,  -- the task's number in this store; the next is always higher
  id           TEXT    NOT NULL UNIQUE,
  workflow     TEXT    NOT NULL,
  version      TEXT    NOT NULL,                   -- of the workflow
  priority     INTEGER NOT NULL,
  status       TEXT    NOT NULL,
  result       TEXT    NOT NULL,                   -- the outcome; 'pending' until the task has stopped
  failures     INTEGER NOT NULL,                   -- steps that failed
  parent       TEXT,                               -- the id of the task that started it
  parent_step  INTEGER,                            -- the step of the parent that started it; null: no step did
  submitted_at INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  base_seq     INTEGER NOT NULL,                   -- replay begins with this record of the history

  -- Ownership.
  locked_by    TEXT,                               -- the node that owns it; null: none
  epoch        INTEGER NOT NULL,                   -- how often it was claimed: fences owners of before
  claimed_seq  INTEGER,                            -- the last record of the history when it was last claimed as an orphan

  -- When a node that does not own it may claim it.
  ready        INTEGER NOT NULL,                   -- 1: a node that runs its workflow should claim it
  control      INTEGER NOT NULL,                   -- 1: any node may claim it, whatever workflows it runs
  orphaned     INTEGER NOT NULL,                   -- 1: its last owner died or lost it
  wake_at      INTEGER,                            -- becomes ready at this instant
  deadline     INTEGER,                            -- becomes ready and control at this instant
  readied      INTEGER,                            -- its place in the line (line.ts), in terms of keys; null: its own key

  -- Quarantine (docs/internals/recovery.md): tasks whose owners die again and again.
  quarantined  INTEGER NOT NULL DEFAULT 0,         -- 1: claimed by nobody until an operator releases it
  suspicion    INTEGER NOT NULL DEFAULT 0,         -- how often it was claimed as an orphan without a new record in between
  on_trial     INTEGER NOT NULL DEFAULT 0,         -- 1: claimed alone, to see whether its owner dies again
  strikes      INTEGER NOT NULL DEFAULT 0,         -- how many owners died during a trial

  -- JSON.
  share        TEXT,                               -- the tenant and its weight in the line; null: no fair share
  tags         TEXT,
  pause        TEXT,                               -- why the task is paused
  error        TEXT,
  progress     TEXT,
  output       TEXT
) STRICT;
CREATE INDEX triarch_tasks_line ON triarch_tasks (workflow, version, priority DESC, coalesce(readied, key)) WHERE ready = 1;
CREATE INDEX triarch_tasks_control ON triarch_tasks (priority DESC, coalesce(readied, key)) WHERE control = 1;
CREATE INDEX triarch_tasks_suspects ON triarch_tasks (strikes + (on_trial AND orphaned), coalesce(readied, key))
  WHERE ready = 1 AND suspicion >= 2;
CREATE INDEX triarch_tasks_apart ON triarch_tasks (key) WHERE quarantined = 1;
CREATE INDEX triarch_tasks_sleeping ON triarch_tasks (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX triarch_tasks_owned ON triarch_tasks (locked_by) WHERE locked_by IS NOT NULL;
CREATE INDEX triarch_tasks_due ON triarch_tasks (deadline)
  WHERE deadline IS NOT NULL AND locked_by IS NULL AND control = 0;
-- For lists of tasks.
CREATE INDEX triarch_tasks_open ON triarch_tasks (status, key) WHERE status <> 'stopped';
CREATE INDEX triarch_tasks_unhappy ON triarch_tasks (result, key) WHERE result NOT IN ('pending', 'success');
CREATE INDEX triarch_tasks_children ON triarch_tasks (parent, key) WHERE parent IS NOT NULL;
CREATE INDEX triarch_tasks_submitted ON triarch_tasks (workflow, submitted_at);
-- For retention. A task whose parent is still kept is not in it.
CREATE INDEX triarch_tasks_stopped ON triarch_tasks (workflow, result, updated_at)
  WHERE status = 'stopped' AND parent IS NULL;

-- Rows lie in the order in which they were written, with an index by task: large texts that are written together lie together.
CREATE TABLE triarch_history (
  task   INTEGER NOT NULL,                         -- the key of the task
  seq    INTEGER NOT NULL,                         -- the number of the record in the task's history, from 1
  at     INTEGER NOT NULL,
  events TEXT    NOT NULL,                         -- the record (store/record.ts)
  PRIMARY KEY (task, seq)
) STRICT;

-- The same tags as in the column of that name, one row each: to find tasks by them.
CREATE TABLE triarch_tags (
  name  TEXT    NOT NULL,
  value TEXT    NOT NULL,
  task  INTEGER NOT NULL,
  PRIMARY KEY (name, value, task)
) STRICT, WITHOUT ROWID;

-- Tasks in the words of the Scheduler Agent Supervisor pattern, for whoever looks at the file. No statement of ours reads it.
CREATE VIEW sas_tasks AS
SELECT id AS task_id, locked_by, deadline AS complete_by,
       CASE WHEN result NOT IN ('pending', 'success', 'warning') THEN 'Error'
            WHEN status = 'stopped' THEN 'Processed'
            WHEN status IN ('scheduled', 'pending') THEN 'Pending'
            ELSE 'Processing' END AS process_state,
       failures AS failure_count
FROM triarch_tasks;
`
