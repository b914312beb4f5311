// Policies that nodes share: schedules, circuit breakers, the cache of answers, settings. The store does not read their JSON.
export const policies = `
CREATE TABLE triarch_schedules (
  name       TEXT    PRIMARY KEY,
  revision   INTEGER NOT NULL,             -- rises with each write: writers compare it
  definition TEXT    NOT NULL,             -- JSON: what it starts, and when
  state      TEXT    NOT NULL,             -- JSON: how far it is
  next_at    INTEGER                       -- when it is due; null: never
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_schedules_due ON triarch_schedules (next_at) WHERE next_at IS NOT NULL;

-- Circuit breakers, rate limits, and rests that services asked for (docs/internals/flow-control.md).
CREATE TABLE triarch_breakers (
  kind    TEXT    NOT NULL,                -- breaker, rate or rest
  name    TEXT    NOT NULL,
  version INTEGER NOT NULL,                -- rises with each write: writers compare it
  state   TEXT    NOT NULL,                -- JSON
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- Answers of actions that all nodes may use.
CREATE TABLE triarch_cache (
  key          TEXT    PRIMARY KEY,
  value        TEXT,                       -- null: nobody has it yet
  seen         INTEGER NOT NULL DEFAULT 0, -- the last generation of invalidations that whoever asked for the answer knew
  at           INTEGER NOT NULL DEFAULT 0, -- when the answer was given
  expires      INTEGER NOT NULL,
  flight       TEXT,                       -- the node that is asking the service for it
  flight_until INTEGER NOT NULL DEFAULT 0  -- when another may ask
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_cache_expires ON triarch_cache (expires);

-- Names of answers, actions and tags that were declared invalid, each with the last generation in which it was. The row without a
-- name has the last generation of all; the row 'floor' has the last generation whose names were forgotten.
CREATE TABLE triarch_cache_marks (
  name       TEXT    PRIMARY KEY,
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_cache_marks_generation ON triarch_cache_marks (generation);

-- Settings, and every change of them.
CREATE TABLE triarch_settings (
  name     TEXT    PRIMARY KEY,
  revision INTEGER NOT NULL,               -- the number of its last change: writers compare it
  at       INTEGER NOT NULL,
  state    TEXT    NOT NULL                -- JSON
) STRICT, WITHOUT ROWID;
CREATE TABLE triarch_setting_changes (
  name     TEXT    NOT NULL,
  revision INTEGER NOT NULL,
  change   TEXT    NOT NULL,               -- JSON
  PRIMARY KEY (name, revision)
) STRICT, WITHOUT ROWID;
`
