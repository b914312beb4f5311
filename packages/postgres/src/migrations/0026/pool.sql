-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Agents whose slots are parted by priority (docs/decisions/0102-pools.md).

-- As take_seated (0020/seat.sql), of requests of some priorities only: from `lowest` on, and below `beyond`. Without bounds over all nodes, as many
-- as there is room for.
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
  -- An idle look writes nothing, not even its number: nothing is lost when its answer is.
  IF ((bounded AND triarch.seats_left(names, mosts) = 0)
      OR NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.agent = queue AND w.locked_by IS NULL AND w.action = ANY (actions)
        AND w.priority >= lowest AND w.priority < beyond))
    AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_ranked.slot AND c.number = take_ranked.call)
  THEN RETURN; END IF;

  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    taken := string_to_array(answer, ',')::bigint[];
  ELSE
    -- In one order, whoever takes.
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
