-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Answers of actions that all nodes may use (docs/decisions/0082), and which of them are not valid any more: names with the generation in
-- which each was named last. The row without a name has the last generation; the row 'floor' the last that was forgotten.
CREATE TABLE triarch.cache (
  key          text COLLATE "C" PRIMARY KEY,
  value        text,
  seen         bigint NOT NULL DEFAULT 0,
  at           bigint NOT NULL DEFAULT 0,
  expires      bigint NOT NULL,
  flight       text COLLATE "C",
  flight_until bigint NOT NULL DEFAULT 0
);
CREATE INDEX cache_expires ON triarch.cache (expires);

CREATE TABLE triarch.cache_marks (
  name       text COLLATE "C" PRIMARY KEY,
  generation bigint NOT NULL
);
CREATE INDEX cache_marks_generation ON triarch.cache_marks (generation);
