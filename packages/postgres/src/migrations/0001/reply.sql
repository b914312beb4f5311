-- Replies and heartbeats of agents.

-- Returns a reply on behalf of an agent that gave none.
CREATE FUNCTION triarch.reply_text(step bigint, operation text, attempt bigint, outcome text, at bigint, node text)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT json_build_object('type', 'reply', 'step', step, 'operation', operation, 'attempt', attempt,
    'outcome', outcome::json, 'startedAt', NULL, 'endedAt', at, 'node', node)::text
$$;

-- Returns the ids of requests, with 0 for those that belong to another request by now: a store that was restored to an
-- earlier state assigns ids again, and a reply to a lost request must not be taken for one to another. Requests without
-- a task are not checked.
CREATE FUNCTION triarch.works_of(ids bigint[], tasks text[], steps bigint[], operations text[], attempts bigint[])
RETURNS bigint[] LANGUAGE sql STABLE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
  SELECT coalesce(array_agg(CASE WHEN r.task IS NULL OR EXISTS (
      SELECT 1 FROM triarch.work w JOIN triarch.tasks t ON t.key = w.task
      WHERE w.id = r.id AND w.step = r.step AND w.operation = r.operation AND w.attempt = r.attempt AND t.id = r.task)
    THEN r.id ELSE 0 END ORDER BY r.ord), '{}')
  FROM unnest(ids, tasks, steps, operations, attempts) WITH ORDINALITY AS r (id, task, step, operation, attempt, ord)
$$;

-- Accepts a node's replies, in the order of their ids: each removes its work row and becomes a message to the task.
-- Returns the keys of the tasks, 0: too late. Rows that a sweep or a withdrawal is about to delete are waited for, and
-- then gone. What the agent knows of each request is compared with what is removed; only if it differs are the ids
-- checked (`works_of`) and the removal repeated.
-- The row of a task is read once for each reply. The read returns its id and its owner and locks it, and neither
-- changes before the message is there, because a transaction that changes them locks the row FOR UPDATE. Tasks without
-- an owner are left to `deliver`, and so are all tasks of a call in which the task of one reply is gone.
CREATE FUNCTION triarch.reply_many(
  slot text, call bigint, node text, ids bigint[], messages text[],
  of_tasks text[], steps bigint[], operations text[], attempts bigint[]
) RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  known bigint[] := ids;
  -- Of the replies that count: their tasks, their positions, and the owners of the tasks.
  tasks bigint[];
  places bigint[];
  holders text[];
  same boolean;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN RETURN NEXT; RETURN; END IF;
  FOR try IN 1 .. 2 LOOP
    BEGIN
      -- Of two replies to one request in a call the first counts.
      WITH gone AS MATERIALIZED (
        DELETE FROM triarch.work w WHERE w.locked_by = node AND w.id = ANY (known)
        RETURNING w.id, w.task, w.step, w.operation, w.attempt)
      SELECT array_agg(g.task ORDER BY r.place), array_agg(r.place ORDER BY r.place),
        bool_and(g.step = steps[r.place] AND g.operation = operations[r.place] AND g.attempt = attempts[r.place])
      INTO tasks, places, same
      FROM (SELECT k.id, min(k.place) AS place FROM unnest(known) WITH ORDINALITY AS k (id, place) GROUP BY k.id) r
      JOIN gone g ON g.id = r.id;
      -- The locks are those of `deliver`. A null comparison counts as equal: it is not known whose request it was.
      SELECT array_agg(l.locked_by ORDER BY l.place), same IS NOT FALSE AND bool_and(l.id = of_tasks[l.place]) IS NOT FALSE
      INTO holders, same
      FROM (SELECT r.place, o.id, o.locked_by
        FROM (SELECT u.task, u.place FROM unnest(tasks, places) AS u (task, place) ORDER BY u.task) r,
          LATERAL (SELECT t.id, t.locked_by FROM triarch.tasks t WHERE t.key = r.task FOR KEY SHARE) o) l;
      IF NOT same THEN RAISE EXCEPTION 'of another request' USING ERRCODE = 'TRI01'; END IF;
      EXIT;
    EXCEPTION WHEN SQLSTATE 'TRI01' THEN
      IF try = 2 THEN RAISE; END IF;
      known := triarch.works_of(ids, of_tasks, steps, operations, attempts);
    END;
  END LOOP;
  IF tasks IS NOT NULL THEN
    IF cardinality(holders) = cardinality(tasks) AND array_position(holders, NULL) IS NULL THEN
      INSERT INTO triarch.inbox (task, owner, control, kind, message)
      SELECT tasks[n], holders[n], false, 'reply', messages[places[n]] FROM generate_subscripts(tasks, 1) AS n;
      owners := (SELECT array_agg(DISTINCT h.holder) FROM unnest(holders) AS h (holder));
    ELSE
      owners := triarch.deliver_all(tasks, 'reply', ARRAY(SELECT messages[p.place] FROM unnest(places) AS p (place)));
    END IF;
  END IF;
  answer := CASE WHEN cardinality(tasks) = cardinality(ids) THEN array_to_string(tasks, ',')
    ELSE (SELECT string_agg(coalesce(tasks[array_position(places, n::bigint)], 0)::text, ',' ORDER BY n) FROM generate_subscripts(ids, 1) AS n) END;
  PERFORM triarch.keep(slot, call, answer);
  RETURN NEXT;
END
$$;

-- Accepts replies. A single one removes its request by everything the agent knows of it, so it cannot be another
-- request's and nothing has to be undone. If that finds no request, or there are several replies, `reply_many` handles
-- them.
CREATE FUNCTION triarch.reply(
  slot text, call bigint, node text, ids bigint[], messages text[],
  of_tasks text[], steps bigint[], operations text[], attempts bigint[]
) RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  one bigint;
  owner text;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN RETURN NEXT; RETURN; END IF;
  IF cardinality(ids) = 1 THEN
    DELETE FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ids[1] AND w.step = steps[1] AND w.operation = operations[1] AND w.attempt = attempts[1]
      AND (SELECT t.id FROM triarch.tasks t WHERE t.key = w.task) = of_tasks[1]
    RETURNING w.task INTO one;
  END IF;
  IF one IS NULL THEN
    SELECT r.answer, r.owners INTO answer, owners
    FROM triarch.reply_many(NULL, call, node, ids, messages, of_tasks, steps, operations, attempts) r;
  ELSE
    -- The lock is that of `deliver`.
    SELECT t.locked_by INTO owner FROM triarch.tasks t WHERE t.key = one FOR KEY SHARE;
    IF owner IS NULL THEN
      owners := triarch.deliver_all(ARRAY[one], 'reply', messages);
    ELSE
      INSERT INTO triarch.inbox (task, owner, control, kind, message) VALUES (one, owner, false, 'reply', messages[1]);
      owners := ARRAY[owner];
    END IF;
    answer := one;
  END IF;
  PERFORM triarch.keep(slot, call, answer);
  RETURN NEXT;
END
$$;

-- Moves the heartbeat deadlines of a node's attempts, and delivers progress. Returns 'ok', 'withdrawn' or 'late' for each.
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
  SELECT triarch.deliver_all(array_agg(m.task ORDER BY m.ord), 'heartbeat', array_agg(m.message ORDER BY m.ord))
  INTO owners
  FROM unnest(tasks, messages) WITH ORDINALITY AS m (task, message, ord)
  WHERE m.message IS NOT NULL AND m.task IS NOT NULL HAVING count(*) > 0;
  RETURN NEXT;
END
$$;

-- Like `beat_work`, but a message is not delivered while another transaction holds its task: 'held'. The heartbeat counts all the same.
CREATE FUNCTION triarch.pulse_work(given_now bigint, node text, ids bigint[], messages text[])
RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  reached bigint[];
  tasks bigint[];
BEGIN
  SELECT b.answer INTO answer FROM triarch.beat_work(given_now, node, ids, array_fill(NULL::text, ARRAY[cardinality(ids)])) b;
  IF array_remove(messages, NULL) = '{}' THEN RETURN NEXT; RETURN; END IF;
  SELECT array_agg(w.task ORDER BY m.ord) INTO tasks
  FROM unnest(ids, messages) WITH ORDINALITY AS m (id, message, ord)
  LEFT JOIN triarch.work w ON w.id = m.id AND w.locked_by = node AND m.message IS NOT NULL;
  reached := coalesce(triarch.within_reach(array_remove(tasks, NULL)), '{}');
  SELECT string_agg(CASE WHEN m.said = 'ok' AND m.task <> ALL (reached) THEN 'held' ELSE m.said END, ',' ORDER BY m.ord)
  INTO answer
  FROM unnest(tasks, string_to_array(answer, ',')) WITH ORDINALITY AS m (task, said, ord);
  SELECT triarch.deliver_all(array_agg(m.task ORDER BY m.ord), 'heartbeat', array_agg(m.message ORDER BY m.ord)) INTO owners
  FROM unnest(tasks, messages) WITH ORDINALITY AS m (task, message, ord)
  WHERE m.task = ANY (reached) HAVING count(*) > 0;
  RETURN NEXT;
END
$$;
