-- Circuit breakers, rate limits, and cooldowns that services asked for (docs/internals/flow-control.md): a row for
-- each, written by compare-and-set (breaker.ts).
CREATE TABLE triarch.breakers (
  kind    text COLLATE "C" NOT NULL,  -- breaker, rate or rest
  name    text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  state   text NOT NULL,
  PRIMARY KEY (kind, name)
) WITH (fillfactor = 50);
