-- Secrets of the store (docs/decisions/0150-signed-tokens.md, secret.ts).
CREATE TABLE triarch.secrets (
  number         bigint PRIMARY KEY,
  secret         text NOT NULL,
  made_at        bigint NOT NULL,
  overlaps_until bigint
);
