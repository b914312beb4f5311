-- As before (0016/share.sql), but requests are chosen first, and told as they are written: nothing is looked for twice. What is chosen is
-- locked and no more, so that it does not matter where the call was sent before.
CREATE OR REPLACE FUNCTION triarch.take_work(
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
  -- An idle look writes nothing, not even its number: nothing is lost when its answer is.
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
