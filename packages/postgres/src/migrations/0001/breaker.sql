-- Circuit breakers, and rate limits (docs/decisions/0067): a row for each, written by compare-and-set (breaker.ts).
CREATE TABLE triarch.breakers (
  name    text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  state   text NOT NULL
) WITH (fillfactor = 50);
