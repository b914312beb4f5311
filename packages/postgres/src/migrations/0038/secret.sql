-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Secrets of the store (docs/decisions/0150-signed-tokens.md). The secret of direct dispatch was the holder of a lease: it goes.
CREATE TABLE triarch.secrets (
  number         bigint PRIMARY KEY,
  secret         text NOT NULL,
  made_at        bigint NOT NULL,
  overlaps_until bigint
);
DELETE FROM triarch.leases WHERE name = 'triarch-direct';
