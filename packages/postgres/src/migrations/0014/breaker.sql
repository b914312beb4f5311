-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Circuit breakers (docs/decisions/0067): a row for each, written by compare-and-set.
CREATE TABLE triarch.breakers (
  name    text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  state   text NOT NULL
) WITH (fillfactor = 50);

-- As take_work (0001/work.sql), but undo and verify come first: what a breaker lets through while its service is tried.
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
  -- An idle look writes nothing, not even its number: nothing is lost when its answer is.
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
          ORDER BY q.operation = 'run', q.priority DESC, q.id LIMIT a.size FOR UPDATE SKIP LOCKED) w
    ), updated AS (
      UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
        complete_by = least(now + w.complete_within, w.expires_at)
      FROM best b WHERE w.ctid = b.place RETURNING w.id
    )
    SELECT array_agg(u.id) INTO taken FROM updated u;
    PERFORM triarch.keep(slot, call, coalesce(array_to_string(taken, ','), ''));
  END IF;
  RETURN QUERY SELECT w.id, w.agent, w.request, w.complete_by, w.heartbeat_within FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ANY (taken) ORDER BY w.priority DESC, w.id;
END
$$;
