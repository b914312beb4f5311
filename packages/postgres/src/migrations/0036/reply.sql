-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As before (0015/reply.sql), but the row of a task is looked at once for each reply, and not three times: as it is locked, it says whose request
-- that was and who has the task now, and nobody changes that until the letter is there (who does locks it FOR UPDATE). What nobody has is
-- left to `deliver`, and so is all of a call where the task of one is gone.
CREATE OR REPLACE FUNCTION triarch.reply_many(
  slot text, call bigint, node text, ids bigint[], messages text[],
  of_tasks text[], steps bigint[], operations text[], attempts bigint[]
) RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  known bigint[] := ids;
  -- Of those that counted: their tasks, which replies they are, and who has the tasks.
  tasks bigint[];
  places bigint[];
  holders text[];
  same boolean;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN RETURN NEXT; RETURN; END IF;
  FOR try IN 1 .. 2 LOOP
    BEGIN
      -- Twice in one call, the first counts.
      WITH gone AS MATERIALIZED (
        DELETE FROM triarch.work w WHERE w.locked_by = node AND w.id = ANY (known)
        RETURNING w.id, w.task, w.step, w.operation, w.attempt)
      SELECT array_agg(g.task ORDER BY r.place), array_agg(r.place ORDER BY r.place),
        bool_and(g.step = steps[r.place] AND g.operation = operations[r.place] AND g.attempt = attempts[r.place])
      INTO tasks, places, same
      FROM (SELECT k.id, min(k.place) AS place FROM unnest(known) WITH ORDINALITY AS k (id, place) GROUP BY k.id) r
      JOIN gone g ON g.id = r.id;
      -- By the locks of `deliver`. Null: nobody knows whose request it was.
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
      INSERT INTO triarch.inbox (task, owner, control, message)
      SELECT tasks[n], holders[n], false, messages[places[n]] FROM generate_subscripts(tasks, 1) AS n;
      owners := (SELECT array_agg(DISTINCT h.holder) FROM unnest(holders) AS h (holder));
    ELSE
      owners := triarch.deliver(tasks, array_fill(false, ARRAY[cardinality(tasks)]),
        ARRAY(SELECT messages[p.place] FROM unnest(places) AS p (place)));
    END IF;
  END IF;
  answer := CASE WHEN cardinality(tasks) = cardinality(ids) THEN array_to_string(tasks, ',')
    ELSE (SELECT string_agg(coalesce(tasks[array_position(places, n::bigint)], 0)::text, ',' ORDER BY n) FROM generate_subscripts(ids, 1) AS n) END;
  PERFORM triarch.keep(slot, call, answer);
  RETURN NEXT;
END
$$;
