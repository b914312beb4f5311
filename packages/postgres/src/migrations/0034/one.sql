-- What is alone (0033/one.sql), and asks for one attempt of a step elsewhere besides. `work_step` is null: it asks for none.
CREATE FUNCTION triarch.commit_one(
  slot text, call bigint, key bigint, id text, node text, epoch bigint, seq bigint, at bigint, last_at bigint, events text, letters bigint[],
  status text, result text, failures bigint, deadline bigint, progress text, output text, error text, pause text,
  wake_at bigint, ready boolean, orphaned boolean,
  work_step bigint, work_operation text, work_attempt bigint, work_agent text, work_action text, work_priority bigint,
  work_complete_within bigint, work_heartbeat_within bigint, work_expires_at bigint, work_request text
) RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  controlled boolean;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN RETURN NEXT; RETURN; END IF;
  IF ready IS NULL THEN
    PERFORM 1 FROM triarch.tasks t
    WHERE t.key = commit_one.key AND t.epoch = commit_one.epoch AND t.locked_by = node AND t.id = commit_one.id FOR NO KEY UPDATE;
  ELSE
    PERFORM 1 FROM triarch.tasks t
    WHERE t.key = commit_one.key AND t.epoch = commit_one.epoch AND t.locked_by = node AND t.id = commit_one.id FOR UPDATE;
  END IF;
  IF FOUND AND events IS NOT NULL THEN
    INSERT INTO triarch.history (task, seq, at, events)
    SELECT key, seq, at, events WHERE (
      SELECT h.seq = commit_one.seq - 1 AND h.at = coalesce(last_at, h.at) FROM triarch.history h
      WHERE h.task = key AND h.seq >= commit_one.seq - 1 ORDER BY h.seq DESC LIMIT 1);
  ELSIF FOUND AND seq > 0 THEN
    PERFORM 1 FROM triarch.history h WHERE h.task = key AND h.seq = commit_one.seq AND h.at = coalesce(last_at, h.at);
  END IF;
  IF NOT FOUND THEN
    answer := '0';
    PERFORM triarch.keep(slot, call, answer);
    RETURN NEXT;
    RETURN;
  END IF;

  IF letters IS NOT NULL THEN
    DELETE FROM triarch.inbox i WHERE i.owner = node AND i.id = ANY (letters) AND i.task = key;
  END IF;
  IF work_step IS NOT NULL THEN
    INSERT INTO triarch.work (task, step, operation, attempt, agent, action, priority, complete_within, heartbeat_within, expires_at, request)
    VALUES (key, work_step, work_operation, work_attempt, work_agent, work_action, work_priority, work_complete_within,
      work_heartbeat_within, work_expires_at, work_request) ON CONFLICT (task, step, operation, attempt) DO NOTHING;
    IF NOT FOUND THEN
      -- A new request for the same attempt replaces the old row, and with it its id: who still runs that one is late.
      DELETE FROM triarch.work w
      WHERE w.task = key AND w.step = work_step AND w.operation = work_operation AND w.attempt = work_attempt;
      INSERT INTO triarch.work (task, step, operation, attempt, agent, action, priority, complete_within, heartbeat_within, expires_at, request)
      VALUES (key, work_step, work_operation, work_attempt, work_agent, work_action, work_priority, work_complete_within,
        work_heartbeat_within, work_expires_at, work_request);
    END IF;
  END IF;
  IF ready IS NOT NULL THEN
    -- Null: nothing is undelivered.
    SELECT bool_or(i.control) INTO controlled FROM triarch.inbox i WHERE i.task = key;
    UPDATE triarch.tasks t SET
      updated_at = CASE WHEN status IS NULL THEN t.updated_at ELSE at END,
      status     = coalesce(commit_one.status, t.status),
      result     = CASE WHEN status IS NULL THEN t.result ELSE commit_one.result END,
      failures   = CASE WHEN status IS NULL THEN t.failures ELSE commit_one.failures END,
      deadline   = CASE WHEN status IS NULL THEN t.deadline ELSE commit_one.deadline END,
      progress   = CASE WHEN status IS NULL THEN t.progress ELSE commit_one.progress END,
      output     = CASE WHEN status IS NULL THEN t.output ELSE commit_one.output END,
      error      = CASE WHEN status IS NULL THEN t.error ELSE commit_one.error END,
      pause      = CASE WHEN status IS NULL THEN t.pause ELSE commit_one.pause END,
      locked_by = NULL, orphaned = commit_one.orphaned, wake_at = commit_one.wake_at,
      ready = commit_one.ready OR controlled IS NOT NULL, control = coalesce(controlled, false)
    WHERE t.key = commit_one.key;
    IF controlled IS NOT NULL THEN
      UPDATE triarch.inbox i SET owner = NULL WHERE i.task = key;
      owners := ARRAY[NULL::text];
    END IF;
  ELSIF status IS NOT NULL THEN
    UPDATE triarch.tasks t SET updated_at = at, status = commit_one.status, result = commit_one.result,
      failures = commit_one.failures, deadline = commit_one.deadline, progress = commit_one.progress,
      output = commit_one.output, error = commit_one.error, pause = commit_one.pause
    WHERE t.key = commit_one.key;
  END IF;
  answer := key;
  PERFORM triarch.keep(slot, call, answer);
  RETURN NEXT;
END
$$;

-- The first transition of a task that it makes, with no more than that.
CREATE FUNCTION triarch.commit_new(
  slot text, call bigint, id text, workflow text, version text, priority bigint, parent text, tags text, submitted_at bigint,
  node text, epoch bigint, at bigint, events text, status text, result text, failures bigint, deadline bigint, progress text,
  output text, error text, pause text,
  work_step bigint, work_operation text, work_attempt bigint, work_agent text, work_action text, work_priority bigint,
  work_complete_within bigint, work_heartbeat_within bigint, work_expires_at bigint, work_request text
) RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  made bigint := nextval('triarch.tasks_key_seq'::regclass);
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN RETURN NEXT; RETURN; END IF;
  BEGIN
    INSERT INTO triarch.tasks (key, id, workflow, version, priority, status, result, failures, locked_by, epoch,
      ready, control, orphaned, deadline, base_seq, submitted_at, updated_at, parent, tags, progress, output, error, pause)
    VALUES (made, id, workflow, version, priority, status, result, failures, node, epoch,
      false, false, false, deadline, 1, submitted_at, at, parent, tags, progress, output, error, pause);
    answer := made;
  EXCEPTION WHEN unique_violation THEN
    PERFORM triarch.free_keys(ARRAY[made], ARRAY[id]);
    answer := '-1';
  END;
  IF answer <> '-1' THEN
    INSERT INTO triarch.history (task, seq, at, events) VALUES (made, 1, at, events) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN answer := '0'; END IF;
    IF work_step IS NOT NULL AND answer <> '0' THEN
      INSERT INTO triarch.work (task, step, operation, attempt, agent, action, priority, complete_within, heartbeat_within, expires_at, request)
      VALUES (made, work_step, work_operation, work_attempt, work_agent, work_action, work_priority, work_complete_within,
        work_heartbeat_within, work_expires_at, work_request);
    END IF;
    IF tags IS NOT NULL THEN PERFORM triarch.insert_tags(ARRAY[made], ARRAY[tags]); END IF;
  END IF;
  PERFORM triarch.keep(slot, call, answer);
  RETURN NEXT;
END
$$;

