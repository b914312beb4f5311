-- Endpoints that a prober watches (probe.ts).
CREATE TABLE triarch.probes (
  name    text COLLATE "C" PRIMARY KEY,
  at      bigint NOT NULL,
  state   text NOT NULL,
  results text NOT NULL
);
