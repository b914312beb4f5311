-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As before (0001/work.sql, beat_work), but what a heartbeat says is not delivered while somebody's transaction holds its task:
-- 'held'. The attempt lives all the same.
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
  SELECT triarch.deliver(array_agg(m.task ORDER BY m.ord), array_agg(false), array_agg(m.message ORDER BY m.ord)) INTO owners
  FROM unnest(tasks, messages) WITH ORDINALITY AS m (task, message, ord)
  WHERE m.task = ANY (reached) HAVING count(*) > 0;
  RETURN NEXT;
END
$$;
