// Immutable: a store that was migrated never runs it again.
//
// Alerts, and what sinks are still to be told (docs/decisions/0093).
export const migration0019 = `
CREATE TABLE triarch_alerts (
  name     TEXT    NOT NULL PRIMARY KEY,
  revision INTEGER NOT NULL,
  open     INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  state    TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_alerts_open ON triarch_alerts (open, name);
CREATE INDEX triarch_alerts_ended ON triarch_alerts (at, name) WHERE open = 0;
CREATE TABLE triarch_alert_posts (
  id     TEXT    NOT NULL PRIMARY KEY,
  sink   TEXT    NOT NULL,
  due_at INTEGER NOT NULL,
  state  TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX triarch_alert_posts_due ON triarch_alert_posts (due_at, id);
`
