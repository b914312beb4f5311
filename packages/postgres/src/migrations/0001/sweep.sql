-- Registers a node or renews its lease. One that was declared dead stays dead: it may still hold what others have taken
-- over, and comes back as another.
CREATE FUNCTION triarch.beat(given_now bigint, id text, roles text, lease bigint) RETURNS boolean
LANGUAGE sql AS $$
  WITH beaten AS (
    INSERT INTO triarch.nodes AS n (id, roles, started_at, lease_until)
    SELECT beat.id, beat.roles, c.now, c.now + beat.lease FROM (SELECT triarch.clock(given_now) AS now) c
    ON CONFLICT (id) DO UPDATE SET roles = excluded.roles, lease_until = excluded.lease_until WHERE NOT n.dead
    RETURNING 1)
  SELECT EXISTS (SELECT 1 FROM beaten)
$$;

-- Takes or renews a lease; its token rises with each term. Null: another node leads.
CREATE FUNCTION triarch.lead(given_now bigint, name text, node text, ttl bigint) RETURNS bigint
LANGUAGE sql AS $$
  INSERT INTO triarch.leases AS l (name, holder, token, until)
  SELECT lead.name, lead.node, 1, c.now + lead.ttl FROM (SELECT triarch.clock(given_now) AS now) c
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until,
    token = l.token + CASE WHEN l.holder <> excluded.holder OR l.until <= excluded.until - lead.ttl THEN 1 ELSE 0 END
  WHERE l.holder = excluded.holder OR l.until <= excluded.until - lead.ttl
  RETURNING l.token
$$;

-- Takes at most `size` of the node's tasks from it, as orphans; those it is known to hold stay.
CREATE FUNCTION triarch.release_tasks(node text, size bigint, held text[]) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  taken bigint[];
BEGIN
  SELECT array_agg(o.key) INTO taken
  FROM (SELECT t.key FROM triarch.tasks t WHERE t.locked_by = node AND (held IS NULL OR t.id <> ALL (held))
    ORDER BY t.key LIMIT size FOR UPDATE) o;
  UPDATE triarch.tasks t SET locked_by = NULL, orphaned = true, wake_at = NULL, ready = true,
    control = EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.task = t.key AND i.control)
  WHERE t.key = ANY (taken);
  UPDATE triarch.inbox i SET owner = NULL WHERE i.task = ANY (taken);
  RETURN coalesce(cardinality(taken), 0);
END
$$;

-- Replies for the attempts that the node's agents ran: nobody knows how they ended.
CREATE FUNCTION triarch.release_work(now bigint, node text, size bigint) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  tasks bigint[];
  messages text[];
BEGIN
  WITH gone AS (
    DELETE FROM triarch.work w
    WHERE w.locked_by = node
      AND w.id IN (SELECT x.id FROM triarch.work x WHERE x.locked_by = node ORDER BY x.id LIMIT size FOR UPDATE)
    RETURNING w.*)
  SELECT array_agg(g.task ORDER BY g.id), array_agg(triarch.reply_text(g.step, g.operation, g.attempt,
    json_build_object('kind', 'failed', 'error', json_build_object('name', 'AgentLost', 'code', 'STEP_LOST',
      'message', 'the node ' || node || ' that ran the attempt died'), 'retryable', true, 'unknown', true)::text,
    now, node) ORDER BY g.id)
  INTO tasks, messages FROM gone g;
  IF tasks IS NULL THEN RETURN 0; END IF;
  PERFORM triarch.deliver(tasks, array_fill(false, ARRAY[cardinality(tasks)]), messages);
  RETURN cardinality(tasks);
END
$$;

-- Removes the node and releases whatever it still owns.
CREATE FUNCTION triarch.leave(given_now bigint, node text) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
BEGIN
  PERFORM triarch.release_tasks(node, NULL, NULL);
  PERFORM triarch.release_work(now, node, NULL);
  DELETE FROM triarch.nodes n WHERE n.id = node;
  UPDATE triarch.leases l SET until = now WHERE l.holder = node AND l.until > now;
END
$$;

-- Gives up attempts past their complete-by, their heartbeat or their last moment to begin.
CREATE FUNCTION triarch.expire_work(now bigint, size bigint) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  tasks bigint[];
  messages text[];
BEGIN
  WITH gone AS (
    DELETE FROM triarch.work w WHERE (w.task, w.step, w.operation, w.attempt) IN (
      SELECT x.task, x.step, x.operation, x.attempt FROM triarch.work x
      WHERE least(x.complete_by, x.heartbeat_by, x.expires_at) <= now
      ORDER BY least(x.complete_by, x.heartbeat_by, x.expires_at) LIMIT size FOR UPDATE SKIP LOCKED)
    RETURNING w.*
  ), judged AS (
    SELECT g.*, CASE
      WHEN g.locked_by IS NULL
      THEN ARRAY['STEP_TIMEOUT', 'no agent took the attempt before it expired']
      WHEN g.heartbeat_by <= now AND (g.complete_by IS NULL OR g.heartbeat_by < g.complete_by)
      THEN ARRAY['HEARTBEAT_MISSED', 'the attempt gave no heartbeat in time']
      ELSE ARRAY['STEP_TIMEOUT', 'the attempt was not done by its complete-by'] END AS why
    FROM gone g
  )
  SELECT array_agg(j.task ORDER BY j.id), array_agg(triarch.reply_text(j.step, j.operation, j.attempt,
    (jsonb_build_object('kind', 'failed', 'error', jsonb_build_object('name', 'StepTimeoutError', 'code', j.why[1],
      'message', j.why[2]), 'retryable', true)
      || CASE WHEN j.locked_by IS NULL THEN '{}'::jsonb ELSE '{"unknown": true}' END)::text,
    now, j.locked_by) ORDER BY j.id)
  INTO tasks, messages FROM judged j;
  IF tasks IS NULL THEN RETURN 0; END IF;
  PERFORM triarch.deliver(tasks, array_fill(false, ARRAY[cardinality(tasks)]), messages);
  RETURN cardinality(tasks);
END
$$;

-- Owners that are no living node, found by stepping from one distinct owner to the next.
CREATE FUNCTION triarch.lost_task_owners() RETURNS SETOF text LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  WITH RECURSIVE owners (id) AS (
    SELECT min(t.locked_by) FROM triarch.tasks t WHERE t.locked_by IS NOT NULL
    UNION ALL
    SELECT (SELECT min(t.locked_by) FROM triarch.tasks t WHERE t.locked_by IS NOT NULL AND t.locked_by > owners.id)
    FROM owners WHERE owners.id IS NOT NULL)
  SELECT o.id FROM owners o
  WHERE o.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM triarch.nodes n WHERE n.id = o.id AND NOT n.dead)
$$;
CREATE FUNCTION triarch.lost_work_owners() RETURNS SETOF text LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  WITH RECURSIVE owners (id) AS (
    SELECT min(w.locked_by) FROM triarch.work w WHERE w.locked_by IS NOT NULL
    UNION ALL
    SELECT (SELECT min(w.locked_by) FROM triarch.work w WHERE w.locked_by IS NOT NULL AND w.locked_by > owners.id)
    FROM owners WHERE owners.id IS NOT NULL)
  SELECT o.id FROM owners o
  WHERE o.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM triarch.nodes n WHERE n.id = o.id AND NOT n.dead)
$$;

-- One sweep of the supervisor under its token; null when that is no longer the leader's. The lease is locked meanwhile:
-- nobody leads while a sweep of another term is under way.
CREATE FUNCTION triarch.sweep(given_now bigint, name text, token bigint, size bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  -- How long a dead node's row stays, so that the node hears of its death; and how long a slot may be silent.
  tombstone CONSTANT bigint := 24 * 60 * 60 * 1000;
  dead text[];
  lost record;
  released bigint := 0;
  given_up bigint := 0;
  late bigint;
  overdue bigint;
BEGIN
  PERFORM 1 FROM triarch.leases l WHERE l.name = sweep.name AND l.token = sweep.token AND l.until > now FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  WITH buried AS (UPDATE triarch.nodes n SET dead = true WHERE NOT n.dead AND n.lease_until < now RETURNING n.id)
  SELECT coalesce(array_agg(b.id), '{}') INTO dead FROM buried b;
  DELETE FROM triarch.nodes n WHERE n.dead AND n.lease_until < now - tombstone;
  DELETE FROM triarch.calls c WHERE c.at < triarch.clock(NULL) - tombstone;
  FOR lost IN SELECT o.id FROM triarch.lost_task_owners() o (id) LOOP
    released := released + triarch.release_tasks(lost.id, size - released, NULL);
  END LOOP;
  FOR lost IN SELECT o.id FROM triarch.lost_work_owners() o (id) LOOP
    given_up := given_up + triarch.release_work(now, lost.id, size - given_up);
  END LOOP;
  late := triarch.expire_work(now, size);
  UPDATE triarch.tasks t SET ready = true, control = true WHERE t.key IN (
    SELECT d.key FROM triarch.tasks d
    WHERE d.deadline IS NOT NULL AND d.locked_by IS NULL AND NOT d.control AND d.deadline <= now
    ORDER BY d.deadline LIMIT size FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS overdue = ROW_COUNT;
  RETURN json_build_object('deadNodes', dead, 'releasedTasks', released, 'expiredSteps', given_up + late,
    'overdueTasks', overdue, 'more', size IN (released, given_up, late, overdue));
END
$$;
