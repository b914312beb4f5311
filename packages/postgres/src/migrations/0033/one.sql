-- One transition of a task that is there, which asks for no more than its record, the letters it consumed, and what changes in the row: as
-- `commit` does it, by the same fences, for less than half. `status` is null: the row stays as it is; `ready` is null: so does the owner.
CREATE FUNCTION triarch.commit_one(
  slot text, call bigint, key bigint, id text, node text, epoch bigint, seq bigint, at bigint, last_at bigint, events text, letters bigint[],
  status text, result text, failures bigint, deadline bigint, progress text, output text, error text, pause text,
  wake_at bigint, ready boolean, orphaned boolean
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
  output text, error text, pause text
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
    IF tags IS NOT NULL THEN PERFORM triarch.insert_tags(ARRAY[made], ARRAY[tags]); END IF;
  END IF;
  PERFORM triarch.keep(slot, call, answer);
  RETURN NEXT;
END
$$;

-- One task, as `submit` makes it.
CREATE FUNCTION triarch.submit_one(
  slot text, call bigint, id text, workflow text, version text, priority bigint, status text, at bigint, start_at bigint,
  deadline bigint, parent text, tags text, events text
) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  answer text := triarch.answered(slot, call);
  made bigint := nextval('triarch.tasks_key_seq'::regclass);
BEGIN
  IF answer IS NOT NULL THEN RETURN answer; END IF;
  BEGIN
    INSERT INTO triarch.tasks (key, id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned,
      wake_at, deadline, base_seq, submitted_at, updated_at, parent, tags)
    VALUES (made, id, workflow, version, priority, status, 'pending', 0, 0, start_at IS NULL, false, false,
      start_at, deadline, 1, at, at, parent, tags);
    answer := made;
  EXCEPTION WHEN unique_violation THEN
    PERFORM triarch.free_keys(ARRAY[made], ARRAY[id]);
    SELECT -t.key INTO answer FROM triarch.tasks t WHERE t.id = submit_one.id;
  END;
  IF answer = made::text THEN
    INSERT INTO triarch.history (task, seq, at, events) VALUES (made, 1, at, events);
    IF tags IS NOT NULL THEN PERFORM triarch.insert_tags(ARRAY[made], ARRAY[tags]); END IF;
  END IF;
  PERFORM triarch.keep(slot, call, answer);
  RETURN answer;
END
$$;
