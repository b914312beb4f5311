-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As nodes call it that are older than the fifth migration, which took it from them. What they can run stays unknown.
CREATE FUNCTION triarch.beat(given_now bigint, id text, roles text, lease bigint) RETURNS boolean
LANGUAGE sql AS $$
  SELECT triarch.beat(given_now, id, roles, lease, NULL)
$$;
