-- Retention: stopped tasks are dropped when they are old enough.

-- Returns the workflows with stopped tasks, found by stepping from one to the next.
CREATE FUNCTION triarch.stopped_workflows() RETURNS SETOF text LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  WITH RECURSIVE names (workflow) AS (
    SELECT min(t.workflow) FROM triarch.tasks t WHERE t.status = 'stopped' AND t.parent IS NULL
    UNION ALL
    SELECT (SELECT min(t.workflow) FROM triarch.tasks t
      WHERE t.status = 'stopped' AND t.parent IS NULL AND t.workflow > names.workflow)
    FROM names WHERE names.workflow IS NOT NULL)
  SELECT n.workflow FROM names n WHERE n.workflow IS NOT NULL
$$;

-- Drops tasks with all that belongs to them. First their children are detached, `most` of them at a time; from then on
-- retention applies to them by themselves. A parent is dropped when no child is left. Returns how many tasks were
-- dropped. Rows are selected as in sweep.sql.
CREATE FUNCTION triarch.drop_tasks(victims bigint[], most bigint) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  ids text[];
BEGIN
  SELECT array_agg(t.id) INTO ids FROM triarch.tasks t WHERE t.key = ANY (victims);
  UPDATE triarch.tasks c SET parent = NULL WHERE c.key = ANY (ARRAY(
    SELECT k.key FROM triarch.tasks k WHERE k.parent = ANY (ids) ORDER BY k.key LIMIT most FOR UPDATE SKIP LOCKED));
  SELECT coalesce(array_agg(t.key), '{}') INTO victims FROM triarch.tasks t
  WHERE t.key = ANY (victims) AND NOT EXISTS (SELECT 1 FROM triarch.tasks c WHERE c.parent = t.id);
  DELETE FROM triarch.history h WHERE h.task = ANY (victims);
  DELETE FROM triarch.effects e WHERE e.task = ANY (victims);
  DELETE FROM triarch.tags g WHERE g.task = ANY (victims);
  DELETE FROM triarch.inbox i WHERE i.task = ANY (victims);
  DELETE FROM triarch.work w WHERE w.task = ANY (victims);
  DELETE FROM triarch.tasks t WHERE t.key = ANY (victims);
  RETURN cardinality(victims);
END
$$;

-- Drops tasks that stopped long enough ago, the longest stopped first; at most `size` of them with at most `most`
-- records together, or one. A rule without a workflow applies to those that no rule names; one without an age keeps
-- tasks for ever. Tasks that a node owns or is about to claim stay, and so do those with a running attempt (which holds
-- its permits), those with a child that has not stopped and those in `except_keys`. A task that cannot be dropped does
-- not keep the others from being dropped, and is reported. A task that another transaction holds is left for later.
CREATE FUNCTION triarch.prune(
  given_now bigint, name text, token bigint, workflows text[], results text[], ages bigint[], size bigint, most bigint,
  except_keys bigint[]
) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan SET lock_timeout = '50ms' AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  found_keys bigint[] := '{}';
  victims bigint[];
  one bigint;
  gone bigint := 0;
  blocked bigint := 0;
  failed jsonb := '[]';
BEGIN
  PERFORM 1 FROM triarch.leases l WHERE l.name = prune.name AND l.token = prune.token AND l.until > now FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  WITH rules AS MATERIALIZED (
    SELECT r.workflow, r.result, r.age FROM unnest(workflows, results, ages) AS r (workflow, result, age)
    WHERE r.workflow IS NOT NULL AND r.age IS NOT NULL
    UNION ALL
    SELECT o.workflow, r.result, r.age FROM unnest(workflows, results, ages) AS r (workflow, result, age),
      triarch.stopped_workflows() AS o (workflow)
    WHERE r.workflow IS NULL AND r.age IS NOT NULL AND o.workflow <> ALL (array_remove(workflows, NULL))
  ), old AS MATERIALIZED (
    SELECT s.key, s.updated_at FROM rules r, LATERAL (
      SELECT t.key, t.updated_at FROM triarch.tasks t
      WHERE t.status = 'stopped' AND t.parent IS NULL AND t.workflow = r.workflow AND t.result = r.result
        AND t.updated_at <= now - r.age AND t.locked_by IS NULL AND NOT t.ready AND t.key <> ALL (except_keys)
        AND NOT EXISTS (SELECT 1 FROM triarch.tasks c WHERE c.parent = t.id AND c.status <> 'stopped')
        AND NOT EXISTS (SELECT 1 FROM triarch.work w WHERE w.task = t.key AND w.locked_by IS NOT NULL)
      ORDER BY t.updated_at LIMIT size FOR UPDATE OF t SKIP LOCKED) s
  ), sized AS (
    SELECT o.key, row_number() OVER oldest AS place,
      sum((SELECT max(h.seq) FROM triarch.history h WHERE h.task = o.key)) OVER oldest AS records
    FROM old o WINDOW oldest AS (ORDER BY o.updated_at, o.key)
  )
  SELECT coalesce(array_agg(z.key), '{}'), array_agg(z.key) FILTER (WHERE z.place = 1 OR (z.place <= size AND z.records <= most))
  INTO found_keys, victims FROM sized z;
  IF victims IS NULL THEN RETURN '{"dropped":0,"more":false}'; END IF;

  BEGIN
    gone := triarch.drop_tasks(victims, most);
  EXCEPTION WHEN others THEN
    FOREACH one IN ARRAY victims LOOP
      BEGIN
        gone := gone + triarch.drop_tasks(ARRAY[one], most);
      EXCEPTION
        WHEN lock_not_available THEN blocked := blocked + 1;
        WHEN others THEN
          -- When the store is full, busy or away, no task is to blame.
          IF left(SQLSTATE, 2) IN ('08', '25', '40', '53', '54', '57', '58') THEN RAISE; END IF;
          failed := failed || (SELECT jsonb_build_object('key', t.key, 'id', t.id, 'workflow', t.workflow, 'message', SQLERRM)
            FROM triarch.tasks t WHERE t.key = one);
      END;
    END LOOP;
  END;
  RETURN json_strip_nulls(json_build_object('dropped', gone,
    'more', cardinality(found_keys) > gone + blocked + jsonb_array_length(failed) OR gone + jsonb_array_length(failed) >= size,
    'failed', nullif(failed, '[]')));
END
$$;
