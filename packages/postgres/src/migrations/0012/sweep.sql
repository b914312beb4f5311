-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As before (0001/sweep.sql), but a sweep passes by what somebody's transaction holds: its turn comes with the next. It would keep
-- all else waiting that a sweep is for.

-- Those of the tasks that a letter can be delivered to at once; they stay so until the transaction ends.
CREATE FUNCTION triarch.within_reach(tasks bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  owned bigint[];
  unowned bigint[];
BEGIN
  SELECT array_agg(k.key) FILTER (WHERE k.locked_by IS NOT NULL), array_agg(k.key) FILTER (WHERE k.locked_by IS NULL)
  INTO owned, unowned
  FROM (SELECT t.key, t.locked_by FROM triarch.tasks t WHERE t.key = ANY (within_reach.tasks) ORDER BY t.key
    FOR KEY SHARE SKIP LOCKED) k;
  IF unowned IS NOT NULL THEN
    SELECT owned || array_agg(k.key) INTO owned
    FROM (SELECT t.key FROM triarch.tasks t WHERE t.key = ANY (unowned) ORDER BY t.key FOR NO KEY UPDATE SKIP LOCKED) k;
  END IF;
  RETURN owned;
END
$$;

-- Those a claim must not be left with (`held`) are waited for.
CREATE OR REPLACE FUNCTION triarch.release_tasks(node text, size bigint, held text[]) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  taken bigint[];
BEGIN
  IF held IS NULL THEN
    SELECT array_agg(o.key) INTO taken
    FROM (SELECT t.key FROM triarch.tasks t WHERE t.locked_by = node ORDER BY t.key LIMIT size FOR UPDATE SKIP LOCKED) o;
  ELSE
    SELECT array_agg(o.key) INTO taken
    FROM (SELECT t.key FROM triarch.tasks t WHERE t.locked_by = node AND t.id <> ALL (held)
      ORDER BY t.key LIMIT size FOR UPDATE) o;
  END IF;
  UPDATE triarch.tasks t SET locked_by = NULL, orphaned = true, wake_at = NULL, ready = true,
    control = EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.task = t.key AND i.control)
  WHERE t.key = ANY (taken);
  UPDATE triarch.inbox i SET owner = NULL WHERE i.task = ANY (taken);
  RETURN coalesce(cardinality(taken), 0);
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
      AND w.id IN (SELECT x.id FROM triarch.work x WHERE x.locked_by = node AND x.task = ANY (lost) ORDER BY x.id LIMIT size
        FOR UPDATE SKIP LOCKED)
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
    DELETE FROM triarch.work w WHERE (w.task, w.step, w.operation, w.attempt) IN (
      SELECT x.task, x.step, x.operation, x.attempt FROM triarch.work x
      WHERE least(x.complete_by, x.heartbeat_by, x.expires_at) <= now AND x.task = ANY (late)
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
