-- The numbers of requests, those as 0 that are another request's by now: a store that went back gives its numbers anew, and what an
-- agent has to say of a request that is no more must not be taken for a word on that one. Without a task it is not asked.
CREATE FUNCTION triarch.works_of(ids bigint[], tasks text[], steps bigint[], operations text[], attempts bigint[])
RETURNS bigint[] LANGUAGE sql STABLE SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
  SELECT coalesce(array_agg(CASE WHEN r.task IS NULL OR EXISTS (
      SELECT 1 FROM triarch.work w JOIN triarch.tasks t ON t.key = w.task
      WHERE w.id = r.id AND w.step = r.step AND w.operation = r.operation AND w.attempt = r.attempt AND t.id = r.task)
    THEN r.id ELSE 0 END ORDER BY r.ord), '{}')
  FROM unnest(ids, tasks, steps, operations, attempts) WITH ORDINALITY AS r (id, task, step, operation, attempt, ord)
$$;
