-- Secrets of the store (docs/internals/remote-agents.md, secret.ts).
CREATE TABLE triarch.secrets (
  number         bigint PRIMARY KEY,
  secret         text NOT NULL,
  made_at        bigint NOT NULL,
  overlaps_until bigint
);
