-- Work queues: agents take requests, the most urgent first, as many as they have room for and only of actions they
-- know. Taking a request sets its complete-by.

-- Permits of limits that all nodes share: one for each request that was taken under such a limit. A permit is void once
-- its request is gone, for whatever reason.
CREATE TABLE triarch.seats (
  name text COLLATE "C" NOT NULL,
  work bigint NOT NULL,
  most bigint NOT NULL,
  PRIMARY KEY (name, work)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);

-- Returns how many more requests may be taken under all of these limits.
CREATE FUNCTION triarch.seats_left(names text[], mosts bigint[]) RETURNS bigint
LANGUAGE sql VOLATILE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
  SELECT greatest(0, min(b.most - (SELECT count(*) FROM triarch.seats s
    WHERE s.name = b.name COLLATE "C" AND EXISTS (SELECT 1 FROM triarch.work w WHERE w.id = s.work))))
  FROM unnest(names, mosts) AS b (name, most)
$$;

-- Takes requests of queues (`agents`, of each at most as many as `sizes` has), for these actions, of priorities from
-- `lowest` on and below `beyond`. `urgent`: undo and verify come first, as for the attempts that a circuit breaker lets
-- through while its service is tried. `names`, `mosts`: limits over all nodes, of one queue. Calls under one limit run
-- one after the other, and each sees what those before it took, because each statement of a function sees what is
-- committed when it begins.
--
-- Requests are selected first and returned as they are written, so no row is searched for twice. The selection only
-- locks rows, so it may come before the check whether the call was sent before. A call that finds nothing writes
-- nothing, not even its number: nothing is lost with its answer.
CREATE FUNCTION triarch.take_work(
  slot text, call bigint, given_now bigint, node text, agents text[], sizes bigint[], actions text[],
  urgent boolean, lowest bigint, beyond bigint, names text[], mosts bigint[]
) RETURNS TABLE (id bigint, agent text, request text, complete_by bigint, heartbeat_within bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  limited boolean := cardinality(names) > 0;
  places tid[];
  answer text;
  taken bigint[];
BEGIN
  IF limited THEN
    IF (triarch.seats_left(names, mosts) = 0
        OR NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.agent = agents[1] AND w.locked_by IS NULL AND w.action = ANY (actions)
          AND w.priority >= lowest AND w.priority < beyond))
      AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_work.slot AND c.number = call)
    THEN RETURN; END IF;
    -- In one order, so that takers do not deadlock.
    PERFORM pg_advisory_xact_lock(o.number) FROM (
      SELECT hashtextextended(concat('triarch.seats ', b.name), 0) AS number FROM unnest(names) AS b (name) ORDER BY 1) o;
    sizes := ARRAY[least(sizes[1], triarch.seats_left(names, mosts))];
  END IF;

  -- The two differ in their order, which the index has only for the second.
  IF urgent THEN
    SELECT array_agg(w.place) INTO places FROM unnest(agents, sizes) AS a (agent, size),
      LATERAL (SELECT q.ctid AS place FROM triarch.work q
        WHERE q.agent = a.agent AND q.locked_by IS NULL AND q.action = ANY (actions) AND q.priority >= lowest AND q.priority < beyond
          AND (q.expires_at IS NULL OR q.expires_at > now)
        ORDER BY q.operation = 'run', q.priority DESC, coalesce(q.place, q.id) LIMIT a.size FOR UPDATE SKIP LOCKED) w;
  ELSE
    SELECT array_agg(w.place ORDER BY w.priority DESC, w.nth, w.id) INTO places FROM unnest(agents, sizes) AS a (agent, size),
      LATERAL (SELECT q.ctid AS place, q.priority, coalesce(q.place, q.id) AS nth, q.id FROM triarch.work q
        WHERE q.agent = a.agent AND q.locked_by IS NULL AND q.action = ANY (actions) AND q.priority >= lowest AND q.priority < beyond
          AND (q.expires_at IS NULL OR q.expires_at > now)
        ORDER BY q.priority DESC, coalesce(q.place, q.id) LIMIT a.size FOR UPDATE SKIP LOCKED) w;
  END IF;
  IF places IS NULL AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_work.slot AND c.number = call) THEN RETURN; END IF;

  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    RETURN QUERY SELECT w.id, w.agent, w.request, w.complete_by, w.heartbeat_within FROM triarch.work w
      WHERE w.locked_by = node AND w.id = ANY (string_to_array(answer, ',')::bigint[])
      ORDER BY w.priority DESC, coalesce(w.place, w.id), w.id;
    RETURN;
  END IF;
  FOR id, agent, request, complete_by, heartbeat_within IN
    UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
      complete_by = least(now + w.complete_within, w.expires_at)
    FROM unnest(places) AS p (place) WHERE w.ctid = p.place
    RETURNING w.id, w.agent, w.request, w.complete_by, w.heartbeat_within
  LOOP
    taken := taken || id;
    RETURN NEXT;
  END LOOP;
  IF limited AND taken IS NOT NULL THEN
    DELETE FROM triarch.seats s WHERE s.name = ANY (names) AND NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.id = s.work);
    INSERT INTO triarch.seats (name, work, most)
    SELECT b.name, t.id, b.most FROM unnest(names, mosts) AS b (name, most), unnest(taken) AS t (id)
    ON CONFLICT (name, work) DO UPDATE SET most = excluded.most;
  END IF;
  PERFORM triarch.keep(slot, call, coalesce(array_to_string(taken, ','), ''));
END
$$;
