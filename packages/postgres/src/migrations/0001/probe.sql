-- Endpoints that a prober watches (docs/decisions/0106-durable-probers.md, probe.ts).
CREATE TABLE triarch.probes (
  name    text COLLATE "C" PRIMARY KEY,
  at      bigint NOT NULL,
  state   text NOT NULL,
  results text NOT NULL
);
