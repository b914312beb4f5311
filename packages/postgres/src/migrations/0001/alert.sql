-- Alerts, and notifications that sinks have still to get (alert.ts).
CREATE TABLE triarch.alerts (
  name     text COLLATE "C" PRIMARY KEY,
  revision bigint NOT NULL,
  open     boolean NOT NULL,
  at       bigint NOT NULL,
  state    text NOT NULL
);
CREATE INDEX alerts_open ON triarch.alerts (open, name);
CREATE INDEX alerts_ended ON triarch.alerts (at, name) WHERE NOT open;
CREATE TABLE triarch.alert_posts (
  id     text COLLATE "C" PRIMARY KEY,
  sink   text COLLATE "C" NOT NULL,
  due_at bigint NOT NULL,
  state  text NOT NULL
);
CREATE INDEX alert_posts_due ON triarch.alert_posts (due_at, id);
