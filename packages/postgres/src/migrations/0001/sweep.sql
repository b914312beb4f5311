-- Sweeps of the leading supervisor: dead nodes, attempts that are late, tasks that are overdue. A sweep skips rows that
-- another transaction holds and leaves them to the next one, because waiting for them would delay everything else.
--
-- Rows are selected by `ARRAY(SELECT … LIMIT … FOR UPDATE SKIP LOCKED)`, which is evaluated once. For `IN (SELECT …)`
-- the planner may use a semi join that runs the selection again for each outer row, each time past those that this
-- statement has changed already. It does so if the statistics say that a table is empty, as after an ANALYZE of a new
-- store, and then the number of rows has no bound.

-- Ends the attempts that the node's agents ran, with replies that their outcome is unknown.
CREATE FUNCTION triarch.release_work(now bigint, node text, size bigint) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  lost bigint[];
  tasks bigint[];
  messages text[];
BEGIN
  SELECT array_agg(x.task) INTO lost
  FROM (SELECT w.task FROM triarch.work w WHERE w.locked_by = node ORDER BY w.id LIMIT size) x;
  IF lost IS NULL THEN RETURN 0; END IF;
  lost := triarch.within_reach(lost);
  WITH gone AS (
    DELETE FROM triarch.work w
    WHERE w.locked_by = node
      AND w.ctid = ANY (ARRAY(SELECT x.ctid FROM triarch.work x WHERE x.locked_by = node AND x.task = ANY (lost)
        ORDER BY x.id LIMIT size FOR UPDATE SKIP LOCKED))
    RETURNING w.*)
  SELECT array_agg(g.task ORDER BY g.id), array_agg(triarch.reply_text(g.step, g.operation, g.attempt,
    json_build_object('kind', 'failed', 'error', json_build_object('name', 'AgentLost', 'code', 'STEP_LOST',
      'message', 'the node ' || node || ' that ran the attempt died'), 'retryable', true, 'unknown', true)::text,
    now, node) ORDER BY g.id)
  INTO tasks, messages FROM gone g;
  IF tasks IS NULL THEN RETURN 0; END IF;
  PERFORM triarch.deliver_all(tasks, 'reply', messages);
  RETURN cardinality(tasks);
END
$$;

-- Ends attempts past their complete-by, their heartbeat or their last moment to begin.
CREATE FUNCTION triarch.expire_work(now bigint, size bigint) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  late bigint[];
  tasks bigint[];
  messages text[];
BEGIN
  SELECT array_agg(x.task) INTO late
  FROM (SELECT w.task FROM triarch.work w WHERE least(w.complete_by, w.heartbeat_by, w.expires_at) <= now
    ORDER BY least(w.complete_by, w.heartbeat_by, w.expires_at) LIMIT size) x;
  IF late IS NULL THEN RETURN 0; END IF;
  late := triarch.within_reach(late);
  WITH gone AS (
    DELETE FROM triarch.work w WHERE w.ctid = ANY (ARRAY(
      SELECT x.ctid FROM triarch.work x
      WHERE least(x.complete_by, x.heartbeat_by, x.expires_at) <= now AND x.task = ANY (late)
      ORDER BY least(x.complete_by, x.heartbeat_by, x.expires_at) LIMIT size FOR UPDATE SKIP LOCKED))
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
  PERFORM triarch.deliver_all(tasks, 'reply', messages);
  RETURN cardinality(tasks);
END
$$;

-- Returns owners of tasks that are not living nodes, found by stepping from one distinct owner to the next.
CREATE FUNCTION triarch.lost_task_owners() RETURNS SETOF text LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  WITH RECURSIVE owners (id) AS (
    SELECT min(t.locked_by) FROM triarch.tasks t WHERE t.locked_by IS NOT NULL
    UNION ALL
    SELECT (SELECT min(t.locked_by) FROM triarch.tasks t WHERE t.locked_by IS NOT NULL AND t.locked_by > owners.id)
    FROM owners WHERE owners.id IS NOT NULL)
  SELECT o.id FROM owners o
  WHERE o.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM triarch.nodes n WHERE n.id = o.id AND NOT n.dead)
$$;

-- Returns owners of taken requests that are not living nodes.
CREATE FUNCTION triarch.lost_work_owners() RETURNS SETOF text LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  WITH RECURSIVE owners (id) AS (
    SELECT min(w.locked_by) FROM triarch.work w WHERE w.locked_by IS NOT NULL
    UNION ALL
    SELECT (SELECT min(w.locked_by) FROM triarch.work w WHERE w.locked_by IS NOT NULL AND w.locked_by > owners.id)
    FROM owners WHERE owners.id IS NOT NULL)
  SELECT o.id FROM owners o
  WHERE o.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM triarch.nodes n WHERE n.id = o.id AND NOT n.dead)
$$;

-- Runs one sweep under the supervisor's token; returns null when that is no longer the leader's. The lease is locked
-- meanwhile, so that no other node can lead during a sweep of this term. `silent` are the nodes that the supervisor
-- found without a heartbeat for as long as their lease, with the marks that it saw last; a clock alone makes no node
-- dead that sends heartbeats. If `silent` is null, nodes are dead whose lease has run out. `shift`: how far the store's
-- clock jumped ahead since the sweep before, without time passing: running attempts get that much more.
CREATE FUNCTION triarch.sweep(given_now bigint, name text, token bigint, size bigint, silent text[], marks text[],
  shift bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  -- How long the row of a dead node stays, so that the node learns that it is dead; and how long a slot may be silent.
  tombstone CONSTANT bigint := 24 * 60 * 60 * 1000;
  dead text[];
  running bigint[];
  lost record;
  released bigint := 0;
  given_up bigint := 0;
  late bigint;
  overdue bigint;
BEGIN
  PERFORM 1 FROM triarch.leases l WHERE l.name = sweep.name AND l.token = sweep.token AND l.until > now FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  WITH buried AS (
    UPDATE triarch.nodes n SET dead = true FROM unnest(silent, marks) s (id, mark)
    WHERE n.id = s.id AND NOT n.dead AND triarch.mark(n) = s.mark AND (n.lease IS NOT NULL OR n.lease_until < now)
    RETURNING n.id)
  SELECT array_agg(b.id) INTO dead FROM buried b;
  IF silent IS NOT NULL THEN
    UPDATE triarch.nodes n SET lease_until = now WHERE NOT n.dead AND n.lease IS NOT NULL AND n.lease_until < now;
  END IF;
  WITH buried AS (UPDATE triarch.nodes n SET dead = true WHERE NOT n.dead AND n.lease_until < now RETURNING n.id)
  SELECT dead || array_agg(b.id) INTO dead FROM buried b;
  IF shift > 0 THEN
    -- The rows are locked in the order in which heartbeats lock them, so that no heartbeat and this one wait for each other.
    SELECT array_agg(l.id) INTO running
    FROM (SELECT w.id FROM triarch.work w WHERE w.locked_by IS NOT NULL ORDER BY w.id FOR UPDATE) l;
    UPDATE triarch.work w SET complete_by = w.complete_by + shift, heartbeat_by = w.heartbeat_by + shift
    WHERE w.locked_by IS NOT NULL AND w.id = ANY (running);
  END IF;
  DELETE FROM triarch.nodes n WHERE n.dead AND n.lease_until < now - tombstone;
  DELETE FROM triarch.calls c WHERE c.at < triarch.clock(NULL) - tombstone;
  FOR lost IN SELECT o.id FROM triarch.lost_task_owners() o (id) LOOP
    released := released + triarch.release_tasks(lost.id, size - released, NULL);
  END LOOP;
  FOR lost IN SELECT o.id FROM triarch.lost_work_owners() o (id) LOOP
    given_up := given_up + triarch.release_work(now, lost.id, size - given_up);
  END LOOP;
  late := triarch.expire_work(now, size);
  UPDATE triarch.tasks t SET ready = true, control = true WHERE t.key = ANY (ARRAY(
    SELECT d.key FROM triarch.tasks d
    WHERE d.deadline IS NOT NULL AND d.locked_by IS NULL AND NOT d.control AND d.deadline <= now
    ORDER BY d.deadline LIMIT size FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS overdue = ROW_COUNT;
  RETURN json_build_object('deadNodes', coalesce(dead, '{}'), 'releasedTasks', released, 'expiredSteps', given_up + late,
    'overdueTasks', overdue, 'more', size IN (released, given_up, late, overdue));
END
$$;

-- Returns what no node has taken yet: workflow versions of which a task is ready (`=`, found by stepping from one to
-- the next), any task that any scheduler can act on (`!`), actions of which a request waits (`+`), nodes that have
-- messages (`@`). The result is bounded, however much waits.
CREATE FUNCTION triarch.untaken() RETURNS text[] LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  WITH RECURSIVE queues (workflow, version) AS (
    (SELECT t.workflow, t.version FROM triarch.tasks t WHERE t.ready ORDER BY t.workflow, t.version LIMIT 1)
    UNION ALL
    SELECT n.workflow, n.version FROM queues q, LATERAL (
      SELECT t.workflow, t.version FROM triarch.tasks t
      WHERE t.ready AND (t.workflow, t.version) > (q.workflow, q.version) ORDER BY t.workflow, t.version LIMIT 1) n),
  owners (id) AS (
    SELECT min(i.owner) FROM triarch.inbox i WHERE i.owner IS NOT NULL
    UNION ALL
    SELECT (SELECT min(i.owner) FROM triarch.inbox i WHERE i.owner IS NOT NULL AND i.owner > o.id)
    FROM owners o WHERE o.id IS NOT NULL)
  SELECT array_cat(
    ARRAY(SELECT concat('=', q.workflow, '@', q.version) FROM queues q LIMIT 200),
    array_cat(
      ARRAY(SELECT concat('!', c.workflow, '@', c.version)
        FROM (SELECT t.workflow, t.version FROM triarch.tasks t WHERE t.control LIMIT 1) c),
      array_cat(
        ARRAY(SELECT DISTINCT concat('+', w.action)
          FROM (SELECT x.action FROM triarch.work x WHERE x.locked_by IS NULL LIMIT 200) w),
        ARRAY(SELECT concat('@', o.id) FROM owners o WHERE o.id IS NOT NULL LIMIT 1000))))
$$;

-- Makes tasks ready whose wake_at has passed. The nodes that put them to sleep wake them in time; this is for those
-- whose node is gone. Returns what no node has taken, and whether a schedule is due.
CREATE FUNCTION triarch.overlooked(given_now bigint, size bigint) RETURNS TABLE (untaken text[], schedules boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
BEGIN
  IF EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.wake_at <= now) THEN
    UPDATE triarch.tasks t SET ready = true, wake_at = NULL
    WHERE t.key = ANY (ARRAY(SELECT s.key FROM triarch.tasks s WHERE s.wake_at <= now ORDER BY s.wake_at
      LIMIT size FOR UPDATE SKIP LOCKED));
  END IF;
  RETURN QUERY SELECT triarch.untaken(), EXISTS (SELECT 1 FROM triarch.schedules s WHERE s.next_at <= now);
END
$$;

-- Reads all that a node needs when it polls: whether there are messages for it, tasks that are ready or due and that it
-- can run, work for its agents, and whether no node leads. `next_wake` is for the leader: others wake what they put to
-- sleep themselves. `living`: how many nodes are alive.
CREATE FUNCTION triarch.poll(
  given_now bigint, node text, workflows text[], versions text[], actions text[], lease text
) RETURNS TABLE (now bigint, mail boolean, tasks boolean, work boolean, vacant boolean, next_wake bigint, living bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  instant bigint := triarch.clock(given_now);
  leader text;
BEGIN
  SELECT l.holder INTO leader FROM triarch.leases l WHERE l.name = poll.lease AND l.until > instant;
  RETURN QUERY SELECT instant,
    EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.owner = poll.node),
    EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.wake_at <= instant)
      OR EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.control)
      OR EXISTS (SELECT 1 FROM unnest(workflows, versions) AS w (workflow, version)
        WHERE EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.ready AND t.workflow = w.workflow AND t.version = w.version)),
    EXISTS (SELECT 1 FROM unnest(actions) AS a (action) WHERE EXISTS (SELECT 1 FROM triarch.work w
      WHERE w.locked_by IS NULL AND w.agent = split_part(a.action, '.', 1) AND w.action = a.action)),
    leader IS NULL,
    CASE WHEN leader IS NULL OR leader = poll.node
      THEN (SELECT t.wake_at FROM triarch.tasks t WHERE t.wake_at IS NOT NULL ORDER BY t.wake_at LIMIT 1) END,
    (SELECT count(*) FROM triarch.nodes n WHERE NOT n.dead);
END
$$;
