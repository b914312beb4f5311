-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- A node is dead when its beats no longer change, not when a clock says so (triarch: supervisor/silence.ts).
--
-- Rises with each renewal of the lease. Nodes of before 0009 leave it and the lease's length as they are.
ALTER TABLE triarch.nodes ADD COLUMN beats bigint NOT NULL DEFAULT 0;
ALTER TABLE triarch.nodes ADD COLUMN lease bigint;
-- Which process of which machine it is, as JSON.
ALTER TABLE triarch.nodes ADD COLUMN place text;
-- How long a term lasts without a renewal: one that seems to last longer was begun by a clock that was ahead.
ALTER TABLE triarch.leases ADD COLUMN ttl bigint;

-- What changes with each sign of life.
CREATE FUNCTION triarch.mark(n triarch.nodes) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN n.lease IS NULL THEN 'until ' || n.lease_until ELSE 'beat ' || n.beats END
$$;

-- Registers a node or renews its lease. One that was declared dead stays dead: it may still hold what others have taken
-- over, and comes back as another. Nodes of before 0009 call the one with fewer parameters.
CREATE FUNCTION triarch.beat(given_now bigint, id text, roles text, lease bigint, runs text, place text) RETURNS boolean
LANGUAGE sql AS $$
  WITH beaten AS (
    INSERT INTO triarch.nodes AS n (id, roles, started_at, lease_until, runs, lease, place, beats)
    SELECT beat.id, beat.roles, c.now, c.now + beat.lease, beat.runs, beat.lease, beat.place, 1
    FROM (SELECT triarch.clock(given_now) AS now) c
    ON CONFLICT (id) DO UPDATE SET roles = excluded.roles, lease_until = excluded.lease_until, lease = excluded.lease,
      beats = n.beats + 1, runs = coalesce(excluded.runs, n.runs), place = coalesce(excluded.place, n.place)
    WHERE NOT n.dead
    RETURNING 1)
  SELECT EXISTS (SELECT 1 FROM beaten)
$$;

-- Takes or renews a lease; its token rises with each term. Null: another node leads. A term that seems to last longer than
-- any can was begun before the clock was set back: it lasts as long as one that is renewed now.
CREATE OR REPLACE FUNCTION triarch.lead(given_now bigint, name text, node text, ttl bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  token bigint;
BEGIN
  INSERT INTO triarch.leases AS l (name, holder, token, until, ttl)
  VALUES (lead.name, lead.node, 1, now + lead.ttl, lead.ttl)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until, ttl = excluded.ttl,
    token = l.token + CASE WHEN l.holder <> excluded.holder OR l.until <= now THEN 1 ELSE 0 END
  WHERE l.holder = excluded.holder OR l.until <= now
  RETURNING l.token INTO token;
  IF token IS NULL THEN
    UPDATE triarch.leases l SET until = now + coalesce(l.ttl, lead.ttl)
    WHERE l.name = lead.name AND l.until > now + coalesce(l.ttl, lead.ttl);
  END IF;
  RETURN token;
END
$$;

-- One that is known to be no more, by who can see its machine's processes: a supervisor releases what it owned.
CREATE FUNCTION triarch.bury(given_now bigint, ids text[]) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  buried bigint;
BEGIN
  UPDATE triarch.nodes n SET dead = true WHERE n.id = ANY (ids) AND NOT n.dead;
  GET DIAGNOSTICS buried = ROW_COUNT;
  UPDATE triarch.leases l SET until = now WHERE l.holder = ANY (ids) AND l.until > now;
  RETURN buried;
END
$$;

-- A sweep by a supervisor that has watched the beats itself: `silent` are those that gave none for as long as their lease,
-- with the marks (pulse) by which it knows; no clock buries one that beats. `shift`: how far the store's clock leapt ahead since
-- the sweep before, in which no time passed: the attempts that run get that much more.
CREATE FUNCTION triarch.sweep(given_now bigint, name text, token bigint, size bigint, silent text[], marks text[],
  shift bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  dead text[];
  report text;
BEGIN
  PERFORM 1 FROM triarch.leases l WHERE l.name = sweep.name AND l.token = sweep.token AND l.until > now FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  WITH buried AS (
    UPDATE triarch.nodes n SET dead = true FROM unnest(silent, marks) s (id, mark)
    WHERE n.id = s.id AND NOT n.dead AND triarch.mark(n) = s.mark AND (n.lease IS NOT NULL OR n.lease_until < now)
    RETURNING n.id)
  SELECT coalesce(array_agg(b.id), '{}') INTO dead FROM buried b;
  UPDATE triarch.nodes n SET lease_until = now WHERE NOT n.dead AND n.lease IS NOT NULL AND n.lease_until < now;
  IF shift > 0 THEN
    UPDATE triarch.work w SET complete_by = w.complete_by + shift, heartbeat_by = w.heartbeat_by + shift
    WHERE w.locked_by IS NOT NULL;
  END IF;
  report := triarch.sweep(coalesce(given_now, now), sweep.name, sweep.token, size);
  RETURN jsonb_set(report::jsonb, '{deadNodes}', to_jsonb(dead) || (report::jsonb -> 'deadNodes'))::text;
END
$$;
