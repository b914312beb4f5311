-- Nodes and leases.

-- A node is dead when its heartbeats stop, not when a clock says so: the leading supervisor watches the counter.
CREATE TABLE triarch.nodes (
  id          text COLLATE "C" PRIMARY KEY,
  roles       text NOT NULL,
  started_at  bigint NOT NULL,
  lease_until bigint NOT NULL,
  dead        boolean NOT NULL DEFAULT false,
  runs        text,                       -- what it can run, as JSON; kept until it is given again
  beats       bigint NOT NULL DEFAULT 0,  -- rises with each renewal of the lease
  lease       bigint,                     -- how long the lease lasts without a renewal
  place       text                        -- which process of which machine it is, as JSON
) WITH (fillfactor = 50);

-- Leases of leaders, by the name of what is led; the token fences former leaders.
CREATE TABLE triarch.leases (
  name   text COLLATE "C" PRIMARY KEY,
  holder text COLLATE "C" NOT NULL,
  token  bigint NOT NULL,
  until  bigint NOT NULL,
  ttl    bigint                           -- how long a term lasts without a renewal: one that seems to last longer was begun by a clock that was ahead
) WITH (fillfactor = 50);

-- A text that changes with each heartbeat of a node.
CREATE FUNCTION triarch.mark(n triarch.nodes) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN n.lease IS NULL THEN 'until ' || n.lease_until ELSE 'beat ' || n.beats END
$$;

-- Registers a node or renews its lease. A node that was declared dead stays dead: it may still act on what others have
-- taken over, and must register under another id.
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

-- Takes or renews a lease; its token rises with each term. Returns null while another node leads. A term that seems to
-- last longer than any can began before the clock was set back; it is shortened to the length of one that is renewed
-- now.
CREATE FUNCTION triarch.lead(given_now bigint, name text, node text, ttl bigint) RETURNS bigint
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

-- Declares nodes dead on behalf of a node on the same machine that found their processes gone. A supervisor releases what they owned.
CREATE FUNCTION triarch.declare_dead(given_now bigint, ids text[]) RETURNS bigint LANGUAGE plpgsql AS $$
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

-- Removes the node and releases what it still owns.
CREATE FUNCTION triarch.leave(given_now bigint, node text) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
BEGIN
  PERFORM triarch.release_tasks(node, NULL, NULL);
  PERFORM triarch.release_work(now, node, NULL);
  DELETE FROM triarch.nodes n WHERE n.id = node;
  UPDATE triarch.leases l SET until = now WHERE l.holder = node AND l.until > now;
END
$$;
