-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- What a node can run, as JSON; kept until it is given again.
ALTER TABLE triarch.nodes ADD COLUMN runs text;
DROP FUNCTION triarch.beat(bigint, text, text, bigint);
-- Registers a node or renews its lease. One that was declared dead stays dead: it may still hold what others have taken
-- over, and comes back as another.
CREATE FUNCTION triarch.beat(given_now bigint, id text, roles text, lease bigint, runs text) RETURNS boolean
LANGUAGE sql AS $$
  WITH beaten AS (
    INSERT INTO triarch.nodes AS n (id, roles, started_at, lease_until, runs)
    SELECT beat.id, beat.roles, c.now, c.now + beat.lease, beat.runs FROM (SELECT triarch.clock(given_now) AS now) c
    ON CONFLICT (id) DO UPDATE SET roles = excluded.roles, lease_until = excluded.lease_until,
      runs = coalesce(excluded.runs, n.runs) WHERE NOT n.dead
    RETURNING 1)
  SELECT EXISTS (SELECT 1 FROM beaten)
$$;
