-- As before (0011/commit.sql; the reasons of most are in 0001/commit.sql), but arrays are walked by one position: of each array that is
-- given to `unnest` beside others the server makes a table of its own first, which costs more than many of these statements. Who gives a
-- task back is fenced by the lock that it needs anyway. And a record that is there already is seen before it is written again: whoever
-- could write it between has to have the lock of the task. That takes no block for an error.
CREATE OR REPLACE FUNCTION triarch.commit(
  slot text, call bigint,
  keys bigint[], ids text[], nodes text[], epochs bigint[], seqs bigint[], ats bigint[], last_ats bigint[],
  events text[],
  create_of bigint[], create_id text[], create_workflow text[], create_version text[], create_priority bigint[],
  create_parent text[], create_tags text[], create_at bigint[], create_node text[], create_epoch bigint[],
  create_updated bigint[], create_status text[], create_result text[], create_failures bigint[],
  create_deadline bigint[], create_progress text[], create_output text[], create_error text[], create_pause text[],
  -- the tasks that are given back, and what changes in the rows of tasks
  releases bigint[],
  change_of bigint[], change_snapshot boolean[], change_status text[], change_result text[], change_failures bigint[],
  change_deadline bigint[], change_progress text[], change_output text[], change_error text[], change_pause text[],
  change_rebase boolean[], change_release boolean[], change_wake_at bigint[], change_ready boolean[],
  change_orphaned boolean[],
  consumed_of bigint[], consumed bigint[],
  work_of bigint[], work_step bigint[], work_operation text[], work_attempt bigint[], work_agent text[],
  work_action text[], work_priority bigint[], work_complete_within bigint[], work_heartbeat_within bigint[],
  work_expires_at bigint[], work_request text[],
  withdraw_of bigint[], withdraw_step bigint[],
  forget_of bigint[], forget_step bigint[],
  child_of bigint[], child_step bigint[],
  child_id text[], child_workflow text[], child_version text[], child_priority bigint[], child_status text[],
  child_at bigint[], child_start bigint[], child_deadline bigint[], child_parent text[], child_tags text[],
  child_events text[],
  post_of bigint[], post_task text[], post_control boolean[], post_message text[]
) RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  done bigint[];
  made bigint[];
  appended bigint;
  entry record;
  letters_task bigint[];
  letters_message text[];
  waiting bigint[];
  controlled bigint[];
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN RETURN NEXT; RETURN; END IF;
  done := array_fill(0::bigint, ARRAY[cardinality(keys)]);

  IF cardinality(create_of) > 0 THEN
    made := triarch.new_keys(cardinality(create_of));
    LOOP
      BEGIN
        INSERT INTO triarch.tasks (key, id, workflow, version, priority, status, result, failures, locked_by, epoch,
          ready, control, orphaned, deadline, base_seq, submitted_at, updated_at, parent, tags, progress, output, error, pause)
        SELECT made[n], create_id[n], create_workflow[n], create_version[n], create_priority[n], create_status[n],
          create_result[n], create_failures[n], create_node[n], create_epoch[n],
          false, false, false, create_deadline[n], 1, create_at[n], create_updated[n], create_parent[n], create_tags[n],
          create_progress[n], create_output[n], create_error[n], create_pause[n]
        FROM (SELECT c.n FROM unnest(made, create_id) WITH ORDINALITY AS c (key, id, n) WHERE c.key > 0 ORDER BY c.id) c;
        EXIT;
      EXCEPTION WHEN unique_violation THEN
        made := triarch.free_keys(made, create_id);
      END;
    END LOOP;
    FOR i IN 1 .. cardinality(made) LOOP
      done[create_of[i]] := CASE WHEN made[i] > 0 THEN made[i] ELSE -1 END;
    END LOOP;
    IF array_remove(create_tags, NULL) <> '{}' THEN PERFORM triarch.insert_tags(made, create_tags); END IF;
  END IF;

  -- A store that went back may have given the key anew, to another task.
  IF cardinality(releases) > 0 THEN
    FOR entry IN
      SELECT b.tx, o.key FROM (
        SELECT c.tx FROM unnest(change_of, change_release) AS c (tx, release) WHERE c.release ORDER BY keys[c.tx]) b,
        LATERAL (SELECT t.key FROM triarch.tasks t WHERE t.key = keys[b.tx] AND t.epoch = epochs[b.tx]
          AND t.locked_by = nodes[b.tx] AND (t.id = ids[b.tx] OR ids[b.tx] IS NULL) FOR UPDATE) o
    LOOP
      done[entry.tx] := entry.key;
    END LOOP;
  END IF;
  IF cardinality(keys) > cardinality(create_of) + cardinality(releases) THEN
    FOR entry IN
      SELECT b.tx, o.key FROM (
        SELECT k.tx FROM unnest(keys) WITH ORDINALITY AS k (key, tx) WHERE done[k.tx] = 0 ORDER BY k.key) b,
        LATERAL (SELECT t.key FROM triarch.tasks t WHERE t.key = keys[b.tx] AND t.epoch = epochs[b.tx]
          AND t.locked_by = nodes[b.tx] AND (t.id = ids[b.tx] OR ids[b.tx] IS NULL) FOR NO KEY UPDATE) o
    LOOP
      done[entry.tx] := entry.key;
    END LOOP;
  END IF;

  -- The second and the third fence: a record that is there already, of the same owner, stays as it is; and where the record before is
  -- missing, or another, the store went back, and nothing may be written after it.
  INSERT INTO triarch.history (task, seq, at, events)
  SELECT b.key, seqs[b.tx], ats[b.tx], events[b.tx] FROM unnest(done) WITH ORDINALITY AS b (key, tx)
  WHERE b.key > 0 AND events[b.tx] IS NOT NULL AND coalesce((
    SELECT h.seq = seqs[b.tx] - 1 AND h.at = coalesce(last_ats[b.tx], h.at) FROM triarch.history h
    WHERE h.task = b.key AND h.seq >= seqs[b.tx] - 1 ORDER BY h.seq DESC LIMIT 1), keys[b.tx] IS NULL);
  GET DIAGNOSTICS appended = ROW_COUNT;
  -- All that are accepted now have their record of this transaction, or (without events) that of before.
  IF appended < cardinality(done) THEN
    FOR entry IN
      SELECT b.tx FROM unnest(done) WITH ORDINALITY AS b (key, tx)
      WHERE b.key > 0 AND (seqs[b.tx] > 0 OR events[b.tx] IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = b.key AND h.seq = seqs[b.tx]
          AND CASE WHEN commit.events[b.tx] IS NULL THEN h.at = coalesce(last_ats[b.tx], h.at)
            ELSE h.xmin = pg_current_xact_id()::xid END)
    LOOP
      done[entry.tx] := 0;
    END LOOP;
  END IF;

  IF cardinality(consumed) > 0 THEN
    -- IS TRUE keeps the planner from making a join of it.
    DELETE FROM triarch.inbox i WHERE i.owner = ANY (nodes) AND i.id = ANY (consumed)
      AND ((i.task, i.id) IN (SELECT done[c.tx], c.letter FROM unnest(consumed_of, consumed) AS c (tx, letter))) IS TRUE;
  END IF;
  IF cardinality(forget_step) > 0 THEN
    DELETE FROM triarch.work w USING unnest(forget_of, forget_step) AS f (tx, step)
    WHERE w.task = done[f.tx] AND w.step = f.step;
  END IF;
  IF cardinality(work_of) > 0 THEN
    FOR try IN 1 .. 2 LOOP
      BEGIN
        INSERT INTO triarch.work (task, step, operation, attempt, agent, action, priority, complete_within,
          heartbeat_within, expires_at, request)
        SELECT done[tx], work_step[n], work_operation[n], work_attempt[n], work_agent[n], work_action[n],
          work_priority[n], work_complete_within[n], work_heartbeat_within[n], work_expires_at[n], work_request[n]
        FROM unnest(work_of) WITH ORDINALITY AS r (tx, n) WHERE done[tx] > 0 ORDER BY n;
        EXIT;
      EXCEPTION WHEN unique_violation THEN
        IF try = 2 THEN RAISE; END IF;
        -- A new request for the same attempt replaces the old row, and with it its id: who still runs that one is late.
        DELETE FROM triarch.work w USING unnest(work_of, work_step, work_operation, work_attempt)
          AS r (tx, step, operation, attempt)
        WHERE w.task = done[r.tx] AND w.step = r.step AND w.operation = r.operation AND w.attempt = r.attempt;
      END;
    END LOOP;
  END IF;
  IF cardinality(withdraw_step) > 0 THEN
    WITH gone AS (
      DELETE FROM triarch.work w USING unnest(withdraw_of, withdraw_step) AS d (tx, step)
      WHERE w.task = done[d.tx] AND w.step = d.step AND w.locked_by IS NULL
      RETURNING w.id, w.task, ats[d.tx] AS at, w.step, w.operation, w.attempt)
    SELECT array_agg(g.task ORDER BY g.id), array_agg(triarch.reply_text(
      g.step, g.operation, g.attempt, '{"kind":"withdrawn"}', g.at, NULL) ORDER BY g.id)
    INTO letters_task, letters_message FROM gone g;
    UPDATE triarch.work w SET withdrawn = true FROM unnest(withdraw_of, withdraw_step) AS d (tx, step)
    WHERE w.task = done[d.tx] AND w.step = d.step;
    IF letters_task IS NOT NULL THEN
      owners := owners || triarch.deliver(letters_task, array_fill(false, ARRAY[cardinality(letters_task)]),
        letters_message);
    END IF;
  END IF;
  IF cardinality(child_of) > 0 THEN
    owners := owners || triarch.start_children(done, child_of, child_step, child_id, child_workflow, child_version,
      child_priority, child_status, child_at, child_start, child_deadline, child_parent, child_tags, child_events);
  END IF;
  IF cardinality(post_of) > 0 THEN
    owners := owners || (
      SELECT triarch.deliver(array_agg(t.key ORDER BY p.ord), array_agg(p.control ORDER BY p.ord),
        array_agg(p.message ORDER BY p.ord))
      FROM unnest(post_of, post_task, post_control, post_message) WITH ORDINALITY AS p (tx, id, control, message, ord)
      JOIN triarch.tasks t ON t.id = p.id WHERE done[p.tx] > 0 HAVING count(*) > 0);
  END IF;

  IF true = ANY (change_rebase) THEN
    -- What lies before the base is never replayed, but for the submission. With a new beginning all goes that lies before the
    -- one of before, 10,000 records at a time; histories of up to 64 records stay whole.
    DELETE FROM triarch.history h USING unnest(change_of, change_rebase) AS c (tx, rebase), triarch.tasks t
    WHERE c.rebase AND done[c.tx] > 0 AND t.key = done[c.tx] AND t.base_seq > 64
      AND h.task = t.key AND h.seq > 1 AND h.seq < t.base_seq
      AND h.seq < 10000 + (SELECT min(f.seq) FROM triarch.history f WHERE f.task = t.key AND f.seq > 1);
    -- So do its children: those that had stopped when the beginning of before was made lose their parent, and are kept as long as
    -- their own retention says. One that somebody's transaction is in the way of leaves with the next beginning.
    UPDATE triarch.tasks c SET parent = NULL WHERE c.key IN (
      SELECT k.key FROM unnest(change_of, change_rebase) AS r (tx, rebase), triarch.tasks t, triarch.history b, triarch.tasks k
      WHERE r.rebase AND done[r.tx] > 0 AND t.key = done[r.tx] AND t.base_seq > 64 AND b.task = t.key AND b.seq = t.base_seq
        AND k.parent = t.id AND k.status = 'stopped' AND k.updated_at < b.at
      ORDER BY k.key LIMIT 10000 FOR UPDATE OF k SKIP LOCKED);
  END IF;
  IF cardinality(change_of) > 0 THEN
    -- Whatever is still undelivered makes a task claimable again at once.
    IF true = ANY (change_release) THEN
      SELECT array_agg(i.task), array_agg(i.task) FILTER (WHERE i.control) INTO waiting, controlled
      FROM triarch.inbox i
      WHERE i.task = ANY (ARRAY(SELECT done[c.tx] FROM unnest(change_of, change_release) AS c (tx, release) WHERE c.release));
    END IF;
    UPDATE triarch.tasks t SET
      updated_at = CASE WHEN change_snapshot[n] THEN ats[c.tx] ELSE t.updated_at END,
      status     = CASE WHEN change_snapshot[n] THEN change_status[n] ELSE t.status END,
      result     = CASE WHEN change_snapshot[n] THEN change_result[n] ELSE t.result END,
      failures   = CASE WHEN change_snapshot[n] THEN change_failures[n] ELSE t.failures END,
      deadline   = CASE WHEN change_snapshot[n] THEN change_deadline[n] ELSE t.deadline END,
      progress   = CASE WHEN change_snapshot[n] THEN change_progress[n] ELSE t.progress END,
      output     = CASE WHEN change_snapshot[n] THEN change_output[n] ELSE t.output END,
      error      = CASE WHEN change_snapshot[n] THEN change_error[n] ELSE t.error END,
      pause      = CASE WHEN change_snapshot[n] THEN change_pause[n] ELSE t.pause END,
      base_seq   = CASE WHEN change_rebase[n] THEN seqs[c.tx] ELSE t.base_seq END,
      locked_by  = CASE WHEN NOT change_release[n] THEN t.locked_by END,
      orphaned   = CASE WHEN change_release[n] THEN change_orphaned[n] ELSE t.orphaned END,
      wake_at    = CASE WHEN change_release[n] THEN change_wake_at[n] ELSE t.wake_at END,
      ready      = change_release[n] AND (change_ready[n] OR coalesce(t.key = ANY (waiting), false)),
      control    = change_release[n] AND coalesce(t.key = ANY (controlled), false)
    FROM unnest(change_of) WITH ORDINALITY AS c (tx, n)
    WHERE t.key = done[c.tx] AND done[c.tx] > 0;
    IF waiting IS NOT NULL THEN
      UPDATE triarch.inbox i SET owner = NULL WHERE i.task = ANY (waiting);
      owners := owners || NULL::text;
    END IF;
  END IF;

  answer := array_to_string(done, ',');
  PERFORM triarch.keep(slot, call, answer);
  RETURN NEXT;
END
$$;
