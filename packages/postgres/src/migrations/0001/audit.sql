-- The audit (audit.ts): who did what, on what, when. Rows are deleted by age and number only.
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
