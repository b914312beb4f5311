// Data for operators: logs of tasks, the audit, statistics, alerts, API keys, watched endpoints.
export const operations = `
-- What the steps and workflow of a task log: a row for each task with lines, and the lines.
CREATE TABLE triarch_logs (
  task  INTEGER PRIMARY KEY,
  seq   INTEGER NOT NULL,            -- the number of the last line
  bytes INTEGER NOT NULL,            -- of all lines that there ever were
  shed  INTEGER NOT NULL,            -- lines that were dropped for newer ones
  run   INTEGER NOT NULL,            -- the last line of the workflow's code: its run, and its number there
  mark  INTEGER NOT NULL
) STRICT;
CREATE TABLE triarch_log_lines (
  task      INTEGER NOT NULL,
  seq       INTEGER NOT NULL,
  bytes     INTEGER NOT NULL,        -- of all lines up to this one
  source    TEXT,                    -- the attempt that said it, with n: a line is kept once; null: the workflow's code
  n         INTEGER NOT NULL,        -- its number within the source
  at        INTEGER NOT NULL,
  level     INTEGER NOT NULL,
  step      INTEGER NOT NULL,        -- 0: the workflow's code
  operation TEXT,
  attempt   INTEGER,
  node      TEXT,
  line      TEXT    NOT NULL,
  PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX triarch_log_lines_said ON triarch_log_lines (task, source, n) WHERE source IS NOT NULL;
CREATE TRIGGER triarch_tasks_logged AFTER DELETE ON triarch_tasks BEGIN
  DELETE FROM triarch_log_lines WHERE task = OLD.key;
  DELETE FROM triarch_logs WHERE task = OLD.key;
END;

-- Who did what, to what, when. Rows go only by age and number. The indexes end with the order of reading.
CREATE TABLE triarch_audit (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  id      TEXT    NOT NULL UNIQUE,
  at      INTEGER NOT NULL,
  actor   TEXT    NOT NULL,
  action  TEXT    NOT NULL,
  subject TEXT    NOT NULL,
  outcome TEXT    NOT NULL,
  text    TEXT    NOT NULL           -- JSON: all of it
) STRICT;
CREATE INDEX triarch_audit_at ON triarch_audit (at);
CREATE INDEX triarch_audit_actor ON triarch_audit (actor, at);
CREATE INDEX triarch_audit_action ON triarch_audit (action, at);
CREATE INDEX triarch_audit_subject ON triarch_audit (subject, at);

-- Statistics by the hour: how often, for each combination of the other columns.
CREATE TABLE triarch_statistics (
  hour     INTEGER NOT NULL,         -- its beginning (ms)
  kind     TEXT    NOT NULL,         -- 'task', 'step' or 'attempt'
  workflow TEXT    NOT NULL,
  agent    TEXT    NOT NULL,         -- '': none
  action   TEXT    NOT NULL,         -- '': none
  outcome  TEXT    NOT NULL,
  error    TEXT    NOT NULL,         -- the code of the error, or its name; '': none
  tag      TEXT    NOT NULL,         -- the value of the tag that tenants are told by; '': none
  bucket   INTEGER NOT NULL,         -- how long it took, as the number of a bucket (statistics/histogram.ts); -1: not known
  count    INTEGER NOT NULL,
  ms       INTEGER NOT NULL,         -- how long all of them took together
  PRIMARY KEY (hour, kind, workflow, agent, action, outcome, error, tag, bucket)
) STRICT, WITHOUT ROWID;

-- How far the history of each task is counted.
CREATE TABLE triarch_followed (
  task  INTEGER PRIMARY KEY,
  seq   INTEGER NOT NULL DEFAULT 0,  -- the last record that is counted
  done  INTEGER NOT NULL DEFAULT 0,  -- 1: the task has stopped, and all is counted
  state TEXT                         -- JSON: what counting the next records needs of those before
) STRICT;
CREATE INDEX triarch_followed_open ON triarch_followed (task) WHERE done = 0;

-- How far the counting is: one row, once something was counted.
CREATE TABLE triarch_counting (
  one     INTEGER PRIMARY KEY CHECK (one = 1),
  settled INTEGER NOT NULL,          -- tasks with keys up to this one are in triarch_followed
  as_of   INTEGER,                   -- all that was written before this instant is counted
  anew    INTEGER NOT NULL DEFAULT 0, -- 1: what was counted is being dropped, bit by bit, to count it anew
  since   INTEGER,                   -- when that was last asked for
  goal    INTEGER                    -- the highest key of a task then
) STRICT;

-- Alerts, and what sinks are still to be told of them.
CREATE TABLE triarch_alerts (
  name     TEXT    NOT NULL PRIMARY KEY,
  revision INTEGER NOT NULL,         -- rises with each write: writers compare it
  open     INTEGER NOT NULL,         -- 1: has not ended
  at       INTEGER NOT NULL,         -- when it was last written
  state    TEXT    NOT NULL          -- JSON
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_alerts_open ON triarch_alerts (open, name);
CREATE INDEX triarch_alerts_ended ON triarch_alerts (at, name) WHERE open = 0;
CREATE TABLE triarch_alert_posts (
  id     TEXT    NOT NULL PRIMARY KEY,
  sink   TEXT    NOT NULL,
  due_at INTEGER NOT NULL,
  state  TEXT    NOT NULL            -- JSON: what is said, and how often telling failed
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_alert_posts_due ON triarch_alert_posts (due_at, id);

-- API keys; never the key itself.
CREATE TABLE triarch_keys (
  name     TEXT    NOT NULL PRIMARY KEY,
  revision INTEGER NOT NULL,         -- rises with each write, but for uses: writers compare it
  at       INTEGER NOT NULL,         -- when it was last written
  ends_at  INTEGER,
  used_at  INTEGER,
  state    TEXT    NOT NULL          -- JSON
) STRICT, WITHOUT ROWID;
-- One row, with another text after each change of any key.
CREATE TABLE triarch_key_changes (one INTEGER NOT NULL PRIMARY KEY, mark TEXT NOT NULL) STRICT;

-- Endpoints that a prober watches.
CREATE TABLE triarch_probes (
  name    TEXT    NOT NULL PRIMARY KEY,
  at      INTEGER NOT NULL,
  state   TEXT    NOT NULL,          -- JSON
  results TEXT    NOT NULL           -- JSON: the last results
) STRICT, WITHOUT ROWID;
`
