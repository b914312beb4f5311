-- Work queues: agents take requests, the most urgent first, as many as they have room for and only of actions they know. Taking a request fixes
-- its complete-by.

-- Requests are chosen first and returned as they are written, so nothing is looked for twice. The choice only locks rows, so it may come before
-- the question whether the call was sent before.
CREATE FUNCTION triarch.take_work(
  slot text, call bigint, given_now bigint, node text, agents text[], sizes bigint[], actions text[]
) RETURNS TABLE (id bigint, agent text, request text, complete_by bigint, heartbeat_within bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  places tid[];
  answer text;
  taken bigint[];
BEGIN
  SELECT array_agg(w.place ORDER BY w.priority DESC, w.nth, w.id) INTO places FROM unnest(agents, sizes) AS a (agent, size),
    LATERAL (SELECT q.ctid AS place, q.priority, coalesce(q.place, q.id) AS nth, q.id FROM triarch.work q
      WHERE q.agent = a.agent AND q.locked_by IS NULL AND q.action = ANY (actions)
        AND (q.expires_at IS NULL OR q.expires_at > now)
      ORDER BY q.priority DESC, coalesce(q.place, q.id) LIMIT a.size FOR UPDATE SKIP LOCKED) w;
  -- A call that finds nothing writes nothing, not even its number: nothing is lost with its answer.
  IF places IS NULL AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_work.slot AND c.number = call) THEN RETURN; END IF;
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    RETURN QUERY SELECT w.id, w.agent, w.request, w.complete_by, w.heartbeat_within FROM triarch.work w
      WHERE w.locked_by = node AND w.id = ANY (string_to_array(answer, ',')::bigint[])
      ORDER BY w.priority DESC, coalesce(w.place, w.id), w.id;
  ELSIF cardinality(places) = 1 THEN
    UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
      complete_by = least(now + w.complete_within, w.expires_at)
    WHERE w.ctid = places[1]
    RETURNING w.id, w.agent, w.request, w.complete_by, w.heartbeat_within INTO id, agent, request, complete_by, heartbeat_within;
    PERFORM triarch.keep(slot, call, id::text);
    RETURN NEXT;
  ELSE
    FOR id, agent, request, complete_by, heartbeat_within IN
      UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
        complete_by = least(now + w.complete_within, w.expires_at)
      FROM unnest(places) AS p (place) WHERE w.ctid = p.place
      RETURNING w.id, w.agent, w.request, w.complete_by, w.heartbeat_within
    LOOP
      taken := taken || id;
      RETURN NEXT;
    END LOOP;
    PERFORM triarch.keep(slot, call, array_to_string(taken, ','));
  END IF;
END
$$;

-- As take_work, but undo and verify come first: what a circuit breaker lets through while its service is tried.
CREATE FUNCTION triarch.take_urgent(
  slot text, call bigint, given_now bigint, node text, agents text[], sizes bigint[], actions text[]
) RETURNS TABLE (id bigint, agent text, request text, complete_by bigint, heartbeat_within bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  answer text;
  taken bigint[];
BEGIN
  -- A call that finds nothing writes nothing, not even its number: nothing is lost with its answer.
  IF NOT EXISTS (SELECT 1 FROM unnest(agents) AS a (agent)
      WHERE EXISTS (SELECT 1 FROM triarch.work w WHERE w.agent = a.agent AND w.locked_by IS NULL AND w.action = ANY (actions)))
    AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_urgent.slot AND c.number = take_urgent.call)
  THEN RETURN; END IF;

  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    taken := string_to_array(answer, ',')::bigint[];
  ELSE
    WITH best AS MATERIALIZED (
      SELECT w.place FROM unnest(agents, sizes) AS a (agent, size),
        LATERAL (SELECT q.ctid AS place FROM triarch.work q
          WHERE q.agent = a.agent AND q.locked_by IS NULL AND q.action = ANY (actions)
            AND (q.expires_at IS NULL OR q.expires_at > now)
          ORDER BY q.operation = 'run', q.priority DESC, coalesce(q.place, q.id) LIMIT a.size FOR UPDATE SKIP LOCKED) w
    ), updated AS (
      UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
        complete_by = least(now + w.complete_within, w.expires_at)
      FROM best b WHERE w.ctid = b.place RETURNING w.id
    )
    SELECT array_agg(u.id) INTO taken FROM updated u;
    PERFORM triarch.keep(slot, call, coalesce(array_to_string(taken, ','), ''));
  END IF;
  RETURN QUERY SELECT w.id, w.agent, w.request, w.complete_by, w.heartbeat_within FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ANY (taken) ORDER BY w.priority DESC, coalesce(w.place, w.id), w.id;
END
$$;

-- Permits of bounds that all nodes share: one for each request that was taken under such a bound. A permit is void once its request is gone,
-- whoever ended that.
CREATE TABLE triarch.seats (
  name text COLLATE "C" NOT NULL,
  work bigint NOT NULL,
  most bigint NOT NULL,
  PRIMARY KEY (name, work)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);

-- How many more requests may be taken under all of these bounds.
CREATE FUNCTION triarch.seats_left(names text[], mosts bigint[]) RETURNS bigint
LANGUAGE sql VOLATILE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
  SELECT greatest(0, min(b.most - (SELECT count(*) FROM triarch.seats s
    WHERE s.name = b.name COLLATE "C" AND EXISTS (SELECT 1 FROM triarch.work w WHERE w.id = s.work))))
  FROM unnest(names, mosts) AS b (name, most)
$$;

-- As take_work and take_urgent, of one queue, under bounds over all nodes. Takers under one bound come one after the other, and each sees what
-- those before it took, because each statement of a function sees what is committed when it begins.
CREATE FUNCTION triarch.take_seated(
  slot text, call bigint, given_now bigint, node text, queue text, size bigint, actions text[], urgent boolean, names text[], mosts bigint[]
) RETURNS TABLE (id bigint, agent text, request text, complete_by bigint, heartbeat_within bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  answer text;
  taken bigint[];
BEGIN
  -- A call that finds nothing writes nothing, not even its number: nothing is lost with its answer.
  IF (triarch.seats_left(names, mosts) = 0
      OR NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.agent = queue AND w.locked_by IS NULL AND w.action = ANY (actions)))
    AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_seated.slot AND c.number = take_seated.call)
  THEN RETURN; END IF;

  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    taken := string_to_array(answer, ',')::bigint[];
  ELSE
    -- In one order, so that takers do not deadlock.
    PERFORM pg_advisory_xact_lock(o.number) FROM (
      SELECT hashtextextended(concat('triarch.seats ', b.name), 0) AS number FROM unnest(names) AS b (name) ORDER BY 1) o;
    WITH best AS MATERIALIZED (
      SELECT q.ctid AS place FROM triarch.work q
      WHERE q.agent = queue AND q.locked_by IS NULL AND q.action = ANY (actions)
        AND (q.expires_at IS NULL OR q.expires_at > now)
      ORDER BY urgent AND q.operation = 'run', q.priority DESC, coalesce(q.place, q.id)
      LIMIT least(size, triarch.seats_left(names, mosts)) FOR UPDATE SKIP LOCKED
    ), updated AS (
      UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
        complete_by = least(now + w.complete_within, w.expires_at)
      FROM best b WHERE w.ctid = b.place RETURNING w.id
    )
    SELECT array_agg(u.id) INTO taken FROM updated u;
    IF taken IS NOT NULL THEN
      DELETE FROM triarch.seats s WHERE s.name = ANY (names) AND NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.id = s.work);
      INSERT INTO triarch.seats (name, work, most)
      SELECT b.name, t.id, b.most FROM unnest(names, mosts) AS b (name, most), unnest(taken) AS t (id)
      ON CONFLICT (name, work) DO UPDATE SET most = excluded.most;
    END IF;
    PERFORM triarch.keep(slot, call, coalesce(array_to_string(taken, ','), ''));
  END IF;
  RETURN QUERY SELECT w.id, w.agent, w.request, w.complete_by, w.heartbeat_within FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ANY (taken) ORDER BY w.priority DESC, coalesce(w.place, w.id), w.id;
END
$$;

-- As take_seated, but only requests of priorities from `lowest` on and below `beyond`; and without bounds over all nodes when none are named.
CREATE FUNCTION triarch.take_ranked(
  slot text, call bigint, given_now bigint, node text, queue text, size bigint, actions text[], urgent boolean, names text[], mosts bigint[],
  lowest bigint, beyond bigint
) RETURNS TABLE (id bigint, agent text, request text, complete_by bigint, heartbeat_within bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  answer text;
  taken bigint[];
  bounded boolean := cardinality(names) > 0;
BEGIN
  -- A call that finds nothing writes nothing, not even its number: nothing is lost with its answer.
  IF ((bounded AND triarch.seats_left(names, mosts) = 0)
      OR NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.agent = queue AND w.locked_by IS NULL AND w.action = ANY (actions)
        AND w.priority >= lowest AND w.priority < beyond))
    AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_ranked.slot AND c.number = take_ranked.call)
  THEN RETURN; END IF;

  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    taken := string_to_array(answer, ',')::bigint[];
  ELSE
    -- In one order, so that takers do not deadlock.
    PERFORM pg_advisory_xact_lock(o.number) FROM (
      SELECT hashtextextended(concat('triarch.seats ', b.name), 0) AS number FROM unnest(names) AS b (name) ORDER BY 1) o;
    WITH best AS MATERIALIZED (
      SELECT q.ctid AS place FROM triarch.work q
      WHERE q.agent = queue AND q.locked_by IS NULL AND q.action = ANY (actions)
        AND q.priority >= lowest AND q.priority < beyond AND (q.expires_at IS NULL OR q.expires_at > now)
      ORDER BY urgent AND q.operation = 'run', q.priority DESC, coalesce(q.place, q.id)
      LIMIT CASE WHEN bounded THEN least(size, triarch.seats_left(names, mosts)) ELSE size END FOR UPDATE SKIP LOCKED
    ), updated AS (
      UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
        complete_by = least(now + w.complete_within, w.expires_at)
      FROM best b WHERE w.ctid = b.place RETURNING w.id
    )
    SELECT array_agg(u.id) INTO taken FROM updated u;
    IF bounded AND taken IS NOT NULL THEN
      DELETE FROM triarch.seats s WHERE s.name = ANY (names) AND NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.id = s.work);
      INSERT INTO triarch.seats (name, work, most)
      SELECT b.name, t.id, b.most FROM unnest(names, mosts) AS b (name, most), unnest(taken) AS t (id)
      ON CONFLICT (name, work) DO UPDATE SET most = excluded.most;
    END IF;
    PERFORM triarch.keep(slot, call, coalesce(array_to_string(taken, ','), ''));
  END IF;
  RETURN QUERY SELECT w.id, w.agent, w.request, w.complete_by, w.heartbeat_within FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ANY (taken) ORDER BY w.priority DESC, coalesce(w.place, w.id), w.id;
END
$$;
