-- A reply in the name of an agent that gave none.
CREATE FUNCTION triarch.reply_text(step bigint, operation text, attempt bigint, outcome text, at bigint, node text)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT json_build_object('type', 'reply', 'step', step, 'operation', operation, 'attempt', attempt,
    'outcome', outcome::json, 'startedAt', NULL, 'endedAt', at, 'node', node)::text
$$;

-- Hands out step requests, the most urgent first, as many of each agent as it has
-- room for and only of actions it knows; fixes their complete-by.
CREATE FUNCTION triarch.take_work(
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
    AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_work.slot AND c.number = take_work.call)
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
          ORDER BY q.priority DESC, q.id LIMIT a.size FOR UPDATE SKIP LOCKED) w
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

-- Takes a node's replies, in the order of their ids: each removes its work row and becomes a letter to the task. Answers
-- the keys of the tasks, 0: too late. A row that a sweep or a withdrawal is about to delete is waited for, then gone.
CREATE FUNCTION triarch.reply(slot text, call bigint, node text, ids bigint[], messages text[])
RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  found bigint[];
  tasks bigint[];
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NULL THEN
    WITH gone AS (
      DELETE FROM triarch.work w WHERE w.locked_by = node AND w.id = ANY (ids) RETURNING w.id, w.task)
    SELECT array_agg(g.id ORDER BY g.id), array_agg(g.task ORDER BY g.id) INTO found, tasks FROM gone g;
    IF found IS DISTINCT FROM ids THEN
      SELECT array_agg(CASE WHEN array_position(ids, r.id) = r.ord
        THEN coalesce(tasks[array_position(found, r.id)], 0) ELSE 0 END ORDER BY r.ord)
      INTO tasks FROM unnest(ids) WITH ORDINALITY AS r (id, ord);
    END IF;
    owners := triarch.deliver(tasks, array_fill(false, ARRAY[cardinality(tasks)]), messages);
    answer := array_to_string(tasks, ',');
    PERFORM triarch.keep(slot, call, answer);
  END IF;
  RETURN NEXT;
END
$$;

-- Moves heartbeat deadlines of what a node runs, and delivers progress. Answers 'ok', 'withdrawn' or 'late' for each.
CREATE FUNCTION triarch.beat_work(given_now bigint, node text, ids bigint[], messages text[])
RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  now bigint := triarch.clock(given_now);
  found bigint[];
  tasks bigint[];
  withdrawn boolean[];
BEGIN
  SELECT array_agg(l.id), array_agg(l.task), array_agg(l.withdrawn) INTO found, tasks, withdrawn
  FROM (SELECT w.id, w.task, w.withdrawn FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ANY (ids) ORDER BY w.id FOR UPDATE) l;
  UPDATE triarch.work w SET heartbeat_by = now + w.heartbeat_within
  WHERE w.locked_by = node AND w.id = ANY (ids) AND w.heartbeat_within IS NOT NULL;
  SELECT string_agg(CASE WHEN b.at IS NULL THEN 'late' WHEN withdrawn[b.at] THEN 'withdrawn' ELSE 'ok' END, ','
      ORDER BY b.ord),
    array_agg(tasks[b.at] ORDER BY b.ord)
  INTO answer, tasks
  FROM (SELECT r.ord, array_position(found, r.id) AS at FROM unnest(ids) WITH ORDINALITY AS r (id, ord)) b;
  SELECT triarch.deliver(array_agg(m.task ORDER BY m.ord), array_agg(false), array_agg(m.message ORDER BY m.ord))
  INTO owners
  FROM unnest(tasks, messages) WITH ORDINALITY AS m (task, message, ord)
  WHERE m.message IS NOT NULL AND m.task IS NOT NULL HAVING count(*) > 0;
  RETURN NEXT;
END
$$;
