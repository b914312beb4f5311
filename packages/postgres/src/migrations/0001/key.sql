-- API keys (key.ts).
CREATE TABLE triarch.keys (
  name     text COLLATE "C" PRIMARY KEY,
  revision bigint NOT NULL,
  at       bigint NOT NULL,
  ends_at  bigint,
  used_at  bigint,
  state    text NOT NULL
);
-- One row, which holds another text after each change of any key.
CREATE TABLE triarch.key_changes (one bigint PRIMARY KEY, mark text NOT NULL);
