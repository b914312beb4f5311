-- Quarantine: tasks that no node claims until an operator decides, because their owners died of them or their history cannot be read.

-- Puts a task into quarantine, on behalf of its owner. `orphaned`: an attempt may have been in flight there. A null
-- `pause` leaves the status as it is, because a stopped task cannot be paused.
CREATE FUNCTION triarch.quarantine(
  slot text, call bigint, of_task bigint, node text, epoch bigint, at bigint, orphaned boolean, events text,
  pause text
) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
  answer text := triarch.answered(slot, call);
BEGIN
  IF answer IS NOT NULL THEN RETURN answer; END IF;
  PERFORM 1 FROM triarch.tasks t WHERE t.key = of_task FOR UPDATE;
  UPDATE triarch.tasks t SET quarantined = true, locked_by = NULL, ready = false, control = false,
    orphaned = quarantine.orphaned, wake_at = NULL, deadline = NULL, on_trial = false, updated_at = quarantine.at,
    status = CASE WHEN quarantine.pause IS NULL THEN t.status ELSE 'paused' END, pause = coalesce(quarantine.pause, t.pause)
  WHERE t.key = of_task AND t.epoch = quarantine.epoch AND t.locked_by = node;
  answer := CASE WHEN FOUND THEN 'yes' ELSE 'no' END;
  IF answer = 'yes' THEN
    IF events IS NOT NULL THEN
      INSERT INTO triarch.history (task, seq, at, events)
      VALUES (of_task, (SELECT coalesce(max(h.seq), 0) + 1 FROM triarch.history h WHERE h.task = of_task), at, events);
    END IF;
    UPDATE triarch.inbox i SET owner = NULL WHERE i.task = of_task;
  END IF;
  PERFORM triarch.keep(slot, call, answer);
  RETURN answer;
END
$$;

-- Ends a task in quarantine, whatever its history holds. A trigger frees its locks and notifies the tasks that come after it.
CREATE FUNCTION triarch.terminate(
  slot text, call bigint, of_id text, at bigint, events text, status text, result text, output text, error text,
  post_task text[], post_control boolean[], post_kind text[], post_name text[], post_message text[]
) RETURNS TABLE (answer text, owners text[]) LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
  of_task bigint;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NULL THEN
    SELECT t.key INTO of_task FROM triarch.tasks t WHERE t.id = of_id AND t.quarantined AND t.locked_by IS NULL FOR UPDATE;
    answer := CASE WHEN of_task IS NULL THEN 'no' ELSE 'yes' END;
    IF answer = 'yes' THEN
      INSERT INTO triarch.history (task, seq, at, events)
      VALUES (of_task, (SELECT coalesce(max(h.seq), 0) + 1 FROM triarch.history h WHERE h.task = of_task), at, events);
      DELETE FROM triarch.work w WHERE w.task = of_task;
      DELETE FROM triarch.inbox i WHERE i.task = of_task;
      UPDATE triarch.tasks t SET quarantined = false, orphaned = false, updated_at = terminate.at, status = terminate.status,
        result = terminate.result, output = terminate.output, deadline = NULL, error = terminate.error, pause = NULL
      WHERE t.key = of_task;
      SELECT triarch.deliver(array_agg(t.key ORDER BY p.ord), array_agg(p.control ORDER BY p.ord),
        array_agg(p.kind ORDER BY p.ord), array_agg(p.name ORDER BY p.ord), array_agg(p.message ORDER BY p.ord)) INTO owners
      FROM unnest(post_task, post_control, post_kind, post_name, post_message) WITH ORDINALITY
        AS p (id, control, kind, name, message, ord)
      JOIN triarch.tasks t ON t.id = p.id HAVING count(*) > 0;
    END IF;
    PERFORM triarch.keep(slot, call, answer);
  END IF;
  RETURN NEXT;
END
$$;

-- Drops the records after a given one of a task in quarantine; it stays in quarantine, in the state it had then. The
-- outcome of attempts that were under way is unknown. Of its locks it keeps those of `lock_steps`.
CREATE FUNCTION triarch.truncate_history(
  slot text, call bigint, of_id text, after bigint, at bigint, events text, base bigint, lock_steps bigint[],
  status text, result text, failures bigint, progress text, output text, error text, pause text
) RETURNS TABLE (answer text, owners text[]) LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
  of_task bigint;
  of_step integer;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NULL THEN
    SELECT t.key INTO of_task FROM triarch.tasks t WHERE t.id = of_id AND t.quarantined AND t.locked_by IS NULL
      AND EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = t.key AND h.seq = after) FOR UPDATE;
    answer := CASE WHEN of_task IS NULL THEN 'no' ELSE 'yes' END;
    IF answer = 'yes' THEN
      DELETE FROM triarch.history h WHERE h.task = of_task AND h.seq > after;
      INSERT INTO triarch.history (task, seq, at, events) VALUES (of_task, after + 1, at, events);
      DELETE FROM triarch.work w WHERE w.task = of_task;
      UPDATE triarch.tasks t SET orphaned = true, base_seq = base, updated_at = truncate_history.at, status = truncate_history.status,
        result = truncate_history.result, failures = truncate_history.failures, deadline = NULL, progress = truncate_history.progress, output = truncate_history.output,
        error = truncate_history.error, pause = truncate_history.pause
      WHERE t.key = of_task;
      FOR of_step IN SELECT l.step FROM triarch.locks l WHERE l.task = of_task AND l.step <> ALL (lock_steps) LOOP
        owners := owners || triarch.unlock(of_task, of_step, at);
      END LOOP;
    END IF;
    PERFORM triarch.keep(slot, call, answer);
  END IF;
  RETURN NEXT;
END
$$;
