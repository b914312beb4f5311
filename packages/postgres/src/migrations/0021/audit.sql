-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- The audit (docs/decisions/0095): who did what, on what, when. Nothing but age and number takes rows from it.
CREATE TABLE triarch.audit (
  seq     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id      text COLLATE "C" NOT NULL UNIQUE,
  at      bigint NOT NULL,
  actor   text COLLATE "C" NOT NULL,
  action  text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  text    text NOT NULL
);
CREATE INDEX audit_at ON triarch.audit (at, seq);
CREATE INDEX audit_actor ON triarch.audit (actor, at, seq);
CREATE INDEX audit_action ON triarch.audit (action, at, seq);
CREATE INDEX audit_subject ON triarch.audit (subject, at, seq);
