-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- History records of format 2 (docs/decisions/0050). Contracts: it takes the store from code that reads only format 1. What only such
-- code calls says so: a node that slept meanwhile, with its connections open, claims nothing any more, and cannot come back as another.
CREATE OR REPLACE FUNCTION triarch.claim(
  slot text, call bigint, given_now bigint, node text, workflows text[], versions text[], size bigint, held text[]
) RETURNS TABLE (key bigint, seq bigint, at bigint, text text)
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'this store takes code of schema version 13 or later: update this process';
END
$$;

CREATE OR REPLACE FUNCTION triarch.beat(given_now bigint, id text, roles text, lease bigint, runs text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'this store takes code of schema version 13 or later: update this process';
END
$$;
