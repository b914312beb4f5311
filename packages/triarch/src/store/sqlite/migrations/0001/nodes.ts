// Nodes, leases of leaders, and the secrets that nodes share.
export const nodes = `
CREATE TABLE triarch_nodes (
  id          TEXT    PRIMARY KEY,
  roles       TEXT    NOT NULL,            -- JSON
  started_at  INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  lease       INTEGER NOT NULL,            -- the length of its lease (ms)
  beats       INTEGER NOT NULL DEFAULT 0,  -- rises with each renewal: a node is dead when it no longer does (supervisor/failure-detector.ts)
  dead        INTEGER NOT NULL DEFAULT 0,  -- 1: declared dead, for ever; the row stays for a day, so that the node hears of it
  runs        TEXT,                        -- JSON: the workflows and actions that it can run
  place       TEXT                         -- JSON: which process of which machine it is
) STRICT, WITHOUT ROWID;

-- Terms of leaders: of the supervisor, and of users' own.
CREATE TABLE triarch_leases (
  name   TEXT    PRIMARY KEY,
  holder TEXT    NOT NULL,                 -- the node
  token  INTEGER NOT NULL,                 -- the fencing token: rises with each term
  until  INTEGER NOT NULL,
  ttl    INTEGER                           -- how long a term lasts without a renewal (ms): bounds one that began by a clock that was ahead
) STRICT, WITHOUT ROWID;

-- What tokens and tickets are signed by (docs/internals/remote-agents.md). The highest number is the newest.
CREATE TABLE triarch_secrets (
  number         INTEGER NOT NULL PRIMARY KEY,
  secret         TEXT    NOT NULL,         -- 256 random bits in Base64url
  made_at        INTEGER NOT NULL,
  overlaps_until INTEGER                   -- until when older secrets hold, too; null: without an end
) STRICT;
`
