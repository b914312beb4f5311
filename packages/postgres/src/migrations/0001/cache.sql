-- Answers of actions that all nodes may use (cache.ts).
CREATE TABLE triarch.cache (
  key          text COLLATE "C" PRIMARY KEY,
  value        text,
  seen         bigint NOT NULL DEFAULT 0,
  at           bigint NOT NULL DEFAULT 0,
  expires      bigint NOT NULL,
  flight       text COLLATE "C",           -- who is getting the answer
  flight_until bigint NOT NULL DEFAULT 0
);
CREATE INDEX cache_expires ON triarch.cache (expires);

-- Which answers are not valid any more: names, with the generation in which each was invalidated last. The row without a name has the last
-- generation; the row 'floor' the last that was forgotten.
CREATE TABLE triarch.cache_marks (
  name       text COLLATE "C" PRIMARY KEY,
  generation bigint NOT NULL
);
CREATE INDEX cache_marks_generation ON triarch.cache_marks (generation);
