-- As before (0001/commit.sql), with the ids of the tasks; a third fence: a record is written only where the one before it is there,
-- and is the one that its owner knows;
-- and a new beginning drops what lies before it. Read that file for the reasons of the rest.
CREATE FUNCTION triarch.commit(
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
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
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
        SELECT key, id, workflow, version, priority, status, result, failures, node, epoch,
          false, false, false, deadline, 1, submitted_at, updated_at, parent, tags, progress, output, error, pause
        FROM unnest(made, create_id, create_workflow, create_version, create_priority, create_parent, create_tags, create_at,
          create_node, create_epoch, create_updated, create_status, create_result, create_failures, create_deadline,
          create_progress, create_output, create_error, create_pause)
          AS g (key, id, workflow, version, priority, parent, tags, submitted_at, node, epoch, updated_at, status, result,
            failures, deadline, progress, output, error, pause)
        WHERE key > 0 ORDER BY id;
        EXIT;
      EXCEPTION WHEN unique_violation THEN
        made := triarch.free_keys(made, create_id);
      END;
    END LOOP;
    FOR i IN 1 .. cardinality(made) LOOP
      done[create_of[i]] := CASE WHEN made[i] > 0 THEN made[i] ELSE -1 END;
    END LOOP;
    PERFORM triarch.insert_tags(made, create_tags);
  END IF;

  IF cardinality(releases) > 0 THEN
    PERFORM 1 FROM triarch.tasks t WHERE t.key = ANY (releases) ORDER BY t.key FOR UPDATE;
  END IF;
  FOR entry IN
    -- A store that went back may have given the key anew, to another task.
    SELECT b.ord, t.key FROM unnest(keys, ids, nodes, epochs) WITH ORDINALITY AS b (key, id, node, epoch, ord)
    JOIN triarch.tasks t ON t.key = b.key
    WHERE t.epoch = b.epoch AND t.locked_by = b.node AND (t.id = b.id OR b.id IS NULL)
    ORDER BY t.key FOR NO KEY UPDATE OF t
  LOOP
    done[entry.ord] := entry.key;
  END LOOP;

  -- The second fence: a record that is there already, of the same owner, stays as it is. That hardly ever happens, and
  -- looking out for it (ON CONFLICT) costs a quarter of the insert.
  BEGIN
    INSERT INTO triarch.history (task, seq, at, events)
    SELECT done[b.ord], b.seq, b.at, b.events
    FROM unnest(seqs, ats, last_ats, events, keys) WITH ORDINALITY AS b (seq, at, last_at, events, key, ord)
    WHERE done[b.ord] > 0 AND b.events IS NOT NULL
      AND (b.key IS NULL OR EXISTS (SELECT 1 FROM triarch.history h
        WHERE h.task = done[b.ord] AND h.seq = b.seq - 1 AND h.at = coalesce(b.last_at, h.at)));
    GET DIAGNOSTICS appended = ROW_COUNT;
  EXCEPTION WHEN unique_violation THEN
    INSERT INTO triarch.history (task, seq, at, events)
    SELECT done[b.ord], b.seq, b.at, b.events
    FROM unnest(seqs, ats, last_ats, events, keys) WITH ORDINALITY AS b (seq, at, last_at, events, key, ord)
    WHERE done[b.ord] > 0 AND b.events IS NOT NULL
      AND (b.key IS NULL OR EXISTS (SELECT 1 FROM triarch.history h
        WHERE h.task = done[b.ord] AND h.seq = b.seq - 1 AND h.at = coalesce(b.last_at, h.at)))
    ON CONFLICT DO NOTHING;
    appended := 0;
    FOR entry IN
      SELECT b.ord FROM unnest(done, seqs, events) WITH ORDINALITY AS b (key, seq, events, ord)
      JOIN triarch.history h ON h.task = b.key AND h.seq = b.seq
      WHERE b.events IS NOT NULL AND h.xmin <> pg_current_xact_id()::xid
    LOOP
      done[entry.ord] := 0;
    END LOOP;
  END;
  -- The third: where the record before is missing, or another, the store went back, and nothing may be written after it. All that
  -- are accepted now have their record, or (without events) that of before.
  IF appended < cardinality(done) THEN
    FOR entry IN
      SELECT b.ord FROM unnest(done, seqs, last_ats, events, keys) WITH ORDINALITY
        AS b (key, seq, last_at, events, known, ord)
      WHERE b.key > 0 AND (b.seq > 0 OR b.events IS NOT NULL)
        AND (NOT EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = b.key AND h.seq = b.seq
            AND (b.events IS NOT NULL OR h.at = coalesce(b.last_at, h.at)))
          -- It was there before, and was not even tried.
          OR b.events IS NOT NULL AND b.known IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM triarch.history h
              WHERE h.task = b.key AND h.seq = b.seq - 1 AND h.at = coalesce(b.last_at, h.at)))
    LOOP
      done[entry.ord] := 0;
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
        SELECT done[tx], step, operation, attempt, agent, action, priority, complete_within, heartbeat_within,
          expires_at, request
        FROM unnest(work_of, work_step, work_operation, work_attempt, work_agent, work_action, work_priority,
          work_complete_within, work_heartbeat_within, work_expires_at, work_request) WITH ORDINALITY
          AS r (tx, step, operation, attempt, agent, action, priority, complete_within, heartbeat_within, expires_at,
            request, ord)
        WHERE done[tx] > 0 ORDER BY ord;
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
    SELECT array_agg(i.task), array_agg(i.task) FILTER (WHERE i.control) INTO waiting, controlled
    FROM triarch.inbox i
    WHERE i.task = ANY (ARRAY(SELECT done[c.tx] FROM unnest(change_of, change_release) AS c (tx, release) WHERE c.release));
    UPDATE triarch.tasks t SET
      updated_at = CASE WHEN c.snapshot THEN ats[c.tx] ELSE t.updated_at END,
      status     = CASE WHEN c.snapshot THEN c.status ELSE t.status END,
      result     = CASE WHEN c.snapshot THEN c.result ELSE t.result END,
      failures   = CASE WHEN c.snapshot THEN c.failures ELSE t.failures END,
      deadline   = CASE WHEN c.snapshot THEN c.deadline ELSE t.deadline END,
      progress   = CASE WHEN c.snapshot THEN c.progress ELSE t.progress END,
      output     = CASE WHEN c.snapshot THEN c.output ELSE t.output END,
      error      = CASE WHEN c.snapshot THEN c.error ELSE t.error END,
      pause      = CASE WHEN c.snapshot THEN c.pause ELSE t.pause END,
      base_seq   = CASE WHEN c.rebase THEN seqs[c.tx] ELSE t.base_seq END,
      locked_by  = CASE WHEN NOT c.release THEN t.locked_by END,
      orphaned   = CASE WHEN c.release THEN c.orphaned ELSE t.orphaned END,
      wake_at    = CASE WHEN c.release THEN c.wake_at ELSE t.wake_at END,
      ready      = c.release AND (c.ready OR coalesce(t.key = ANY (waiting), false)),
      control    = c.release AND coalesce(t.key = ANY (controlled), false)
    FROM unnest(change_of, change_snapshot, change_status, change_result, change_failures, change_deadline,
      change_progress, change_output, change_error, change_pause, change_rebase, change_release, change_wake_at,
      change_ready, change_orphaned)
      AS c (tx, snapshot, status, result, failures, deadline, progress, output, error, pause, rebase, release, wake_at,
        ready, orphaned)
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

-- What processes of before call: they do not say the ids.
CREATE OR REPLACE FUNCTION triarch.commit(
  slot text, call bigint,
  keys bigint[], nodes text[], epochs bigint[], seqs bigint[], ats bigint[], events text[],
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
) RETURNS TABLE (answer text, owners text[]) LANGUAGE sql AS $$
  SELECT * FROM triarch.commit(
    $1, $2, $3, NULL, $4, $5, $6, $7, NULL, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25,
    $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49,
    $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60, $61, $62, $63, $64, $65, $66, $67, $68, $69, $70, $71, $72, $73,
    $74, $75, $76, $77)
$$;
