-- What retention looks at: tasks that have stopped, by when. Those of a parent that is still kept are not in it.
CREATE INDEX tasks_stopped ON triarch.tasks (workflow, result, updated_at) WHERE status = 'stopped' AND parent IS NULL;

-- Workflows of which a task has stopped, found by stepping from one to the next.
CREATE FUNCTION triarch.stopped_workflows() RETURNS SETOF text LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  WITH RECURSIVE names (workflow) AS (
    SELECT min(t.workflow) FROM triarch.tasks t WHERE t.status = 'stopped' AND t.parent IS NULL
    UNION ALL
    SELECT (SELECT min(t.workflow) FROM triarch.tasks t
      WHERE t.status = 'stopped' AND t.parent IS NULL AND t.workflow > names.workflow)
    FROM names WHERE names.workflow IS NOT NULL)
  SELECT n.workflow FROM names n WHERE n.workflow IS NOT NULL
$$;

-- Drops tasks that stopped long enough ago, with all that belongs to them, the longest stopped first; at most `size` of
-- them with at most `most` records together, or one. A rule without a workflow holds for those no rule names; one without
-- an age keeps. Tasks somebody has or is about to take stay, and so do those with an open child. First their children lose
-- their parent, `most` of them at a time, and are judged by themselves from then on; a parent goes when none is left.
CREATE FUNCTION triarch.prune(
  given_now bigint, name text, token bigint, workflows text[], results text[], ages bigint[], size bigint, most bigint
) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  found_keys bigint[] := '{}';
  victims bigint[];
  ids text[];
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
        AND t.updated_at <= now - r.age AND t.locked_by IS NULL AND NOT t.ready
        AND NOT EXISTS (SELECT 1 FROM triarch.tasks c WHERE c.parent = t.id AND c.status <> 'stopped')
      ORDER BY t.updated_at LIMIT size FOR UPDATE OF t SKIP LOCKED) s
  ), sized AS (
    SELECT o.key, row_number() OVER oldest AS place,
      sum((SELECT max(h.seq) FROM triarch.history h WHERE h.task = o.key)) OVER oldest AS records
    FROM old o WINDOW oldest AS (ORDER BY o.updated_at, o.key)
  )
  SELECT coalesce(array_agg(z.key), '{}'), array_agg(z.key) FILTER (WHERE z.place = 1 OR (z.place <= size AND z.records <= most))
  INTO found_keys, victims FROM sized z;
  IF victims IS NULL THEN RETURN '{"dropped":0,"more":false}'; END IF;

  SELECT array_agg(t.id) INTO ids FROM triarch.tasks t WHERE t.key = ANY (victims);
  UPDATE triarch.tasks c SET parent = NULL WHERE c.key IN (
    SELECT k.key FROM triarch.tasks k WHERE k.parent = ANY (ids) ORDER BY k.key LIMIT most FOR UPDATE);
  SELECT coalesce(array_agg(t.key), '{}') INTO victims FROM triarch.tasks t
  WHERE t.key = ANY (victims) AND NOT EXISTS (SELECT 1 FROM triarch.tasks c WHERE c.parent = t.id);

  DELETE FROM triarch.history h WHERE h.task = ANY (victims);
  DELETE FROM triarch.effects e WHERE e.task = ANY (victims);
  DELETE FROM triarch.tags g WHERE g.task = ANY (victims);
  DELETE FROM triarch.inbox i WHERE i.task = ANY (victims);
  DELETE FROM triarch.work w WHERE w.task = ANY (victims);
  DELETE FROM triarch.tasks t WHERE t.key = ANY (victims);
  RETURN json_build_object('dropped', cardinality(victims),
    'more', cardinality(found_keys) > cardinality(victims) OR cardinality(victims) >= size);
END
$$;
