-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As before, but each portion is chosen once. Behind `IN (SELECT … LIMIT … FOR UPDATE SKIP LOCKED)` the planner may put a semi join that
-- runs the selection again for each row outside, each time past those that this statement has changed already: so it does where the
-- statistics say that a table is empty, as an ANALYZE of a new store leaves them, and then no portion has an end. `ARRAY(…)` is run once.
CREATE OR REPLACE FUNCTION triarch.drop_tasks(victims bigint[], most bigint) RETURNS bigint
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

CREATE OR REPLACE FUNCTION triarch.overlooked(given_now bigint, size bigint) RETURNS TABLE (untaken text[], schedules boolean)
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

CREATE OR REPLACE FUNCTION triarch.release_work(now bigint, node text, size bigint) RETURNS bigint
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
  PERFORM triarch.deliver(tasks, array_fill(false, ARRAY[cardinality(tasks)]), messages);
  RETURN cardinality(tasks);
END
$$;

CREATE OR REPLACE FUNCTION triarch.expire_work(now bigint, size bigint) RETURNS bigint
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
  PERFORM triarch.deliver(tasks, array_fill(false, ARRAY[cardinality(tasks)]), messages);
  RETURN cardinality(tasks);
END
$$;

CREATE OR REPLACE FUNCTION triarch.sweep(given_now bigint, name text, token bigint, size bigint) RETURNS text
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
  UPDATE triarch.tasks t SET ready = true, control = true WHERE t.key = ANY (ARRAY(
    SELECT d.key FROM triarch.tasks d
    WHERE d.deadline IS NOT NULL AND d.locked_by IS NULL AND NOT d.control AND d.deadline <= now
    ORDER BY d.deadline LIMIT size FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS overdue = ROW_COUNT;
  RETURN json_build_object('deadNodes', dead, 'releasedTasks', released, 'expiredSteps', given_up + late,
    'overdueTasks', overdue, 'more', size IN (released, given_up, late, overdue));
END
$$;

-- They become ready in the order of their keys: by a bitmap it would be that of their places in the table.
ALTER FUNCTION triarch.release_tasks(text, bigint, text[]) SET enable_bitmapscan = off;
