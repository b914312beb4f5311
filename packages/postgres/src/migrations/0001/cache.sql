-- Answers of actions that all nodes may use (cache.ts).
CREATE TABLE triarch.cache (
  key          text COLLATE "C" PRIMARY KEY,
  value        text,
  seen         bigint NOT NULL DEFAULT 0,
  at           bigint NOT NULL DEFAULT 0,
  expires      bigint NOT NULL,
  flight       text COLLATE "C",           -- the node that is asking the service for it
  flight_until bigint NOT NULL DEFAULT 0
);
CREATE INDEX cache_expires ON triarch.cache (expires);

-- Invalidations: names of answers, actions and tags, each with the last generation in which it was invalidated. The row
-- without a name has the last generation of all; the row 'floor' has the last generation whose names were deleted.
CREATE TABLE triarch.cache_marks (
  name       text COLLATE "C" PRIMARY KEY,
  generation bigint NOT NULL
);
CREATE INDEX cache_marks_generation ON triarch.cache_marks (generation);
