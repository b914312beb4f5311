-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As before (0001/work.sql), with what the agent knows of each request: a store that went back gives its numbers anew, and what is
-- said of a request that is no more must not be taken for a word on another. That was asked before the call, for each reply
-- (0011/works.sql), which took as long as all the rest; here it is compared with what is taken away, and asked only if that differs.
CREATE FUNCTION triarch.reply(
  slot text, call bigint, node text, ids bigint[], messages text[],
  of_tasks text[], steps bigint[], operations text[], attempts bigint[]
) RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  known bigint[] := ids;
  tasks bigint[];
  others bigint;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NULL THEN
    FOR try IN 1 .. 2 LOOP
      BEGIN
        -- Twice in one call, the first counts.
        WITH gone AS MATERIALIZED (
          DELETE FROM triarch.work w WHERE w.locked_by = node AND w.id = ANY (known)
          RETURNING w.id, w.task, w.step, w.operation, w.attempt)
        SELECT array_agg(CASE WHEN s.again THEN 0 ELSE coalesce(s.key, 0) END ORDER BY s.ord),
          count(s.key) FILTER (WHERE s.task IS NOT NULL AND NOT s.again AND NOT s.same)
        INTO tasks, others
        FROM (SELECT r.ord, r.task, g.task AS key, row_number() OVER (PARTITION BY r.id ORDER BY r.ord) > 1 AS again,
            g.step = r.step AND g.operation = r.operation AND g.attempt = r.attempt
              AND (SELECT t.id FROM triarch.tasks t WHERE t.key = g.task) = r.task AS same
          FROM unnest(known, of_tasks, steps, operations, attempts)
            WITH ORDINALITY AS r (id, task, step, operation, attempt, ord)
          LEFT JOIN gone g ON g.id = r.id) s;
        IF others > 0 THEN RAISE EXCEPTION 'of another request' USING ERRCODE = 'TRI01'; END IF;
        EXIT;
      EXCEPTION WHEN SQLSTATE 'TRI01' THEN
        IF try = 2 THEN RAISE; END IF;
        known := triarch.works_of(ids, of_tasks, steps, operations, attempts);
      END;
    END LOOP;
    owners := triarch.deliver(tasks, array_fill(false, ARRAY[cardinality(tasks)]), messages);
    answer := array_to_string(tasks, ',');
    PERFORM triarch.keep(slot, call, answer);
  END IF;
  RETURN NEXT;
END
$$;
