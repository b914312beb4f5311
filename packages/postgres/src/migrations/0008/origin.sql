-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
-- A child's row says which step of its parent asked for it, so that nobody has to read that out of its first record: JSON
-- operators fail on some texts that are good JSON (a NUL anywhere in an input), and took the whole commit with them.
-- Null: no step did, or the task was made before this.
ALTER TABLE triarch.tasks ADD COLUMN parent_step bigint;

-- The step out of the first record, for rows that do not say it; 0 when none asked, or when it cannot be read.
CREATE FUNCTION triarch.first_step(of_task bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN coalesce((SELECT (h.events::json -> 0 -> 'parent' ->> 'step')::bigint FROM triarch.history h
    WHERE h.task = of_task AND h.seq = 1), 0);
EXCEPTION WHEN data_exception THEN
  RETURN 0;
END
$$;

-- Whether it is JSON, or nothing. One that is harmed is read by nobody, and must not be part of what others read.
CREATE FUNCTION triarch.is_legible(given text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM given::json;
  RETURN true;
EXCEPTION WHEN data_exception THEN
  RETURN false;
END
$$;

-- Tags that JSON operators would refuse are shown with their task, but not found by: what a version before let in must fail
-- nobody's transaction.
CREATE OR REPLACE FUNCTION triarch.insert_tags(keys bigint[], tags text[]) RETURNS void LANGUAGE sql VOLATILE AS $$
  INSERT INTO triarch.tags (name, value, task)
  SELECT tag.key, tag.value, g.key FROM unnest(keys, tags) AS g (key, tags),
    json_each_text(CASE WHEN g.tags ~* '(^|[^\\])(\\\\)*\\u(0000|d[89a-f])' THEN '{}' ELSE g.tags END::json) tag
  WHERE g.tags IS NOT NULL AND g.key > 0
$$;

-- Creates the tasks whose id is new, each with its first record. Answers their keys in order: negative where the id
-- existed.
CREATE FUNCTION triarch.insert_tasks(
  ids text[], workflows text[], versions text[], priorities bigint[], statuses text[], ats bigint[], starts bigint[],
  deadlines bigint[], parents text[], tags text[], events text[], parent_steps bigint[]
) RETURNS bigint[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  made bigint[] := triarch.new_keys(cardinality(ids));
BEGIN
  LOOP
    BEGIN
      INSERT INTO triarch.tasks (key, id, workflow, version, priority, status, result, failures, epoch, ready, control,
        orphaned, wake_at, deadline, base_seq, submitted_at, updated_at, parent, parent_step, tags)
      SELECT key, id, workflow, version, priority, status, 'pending', 0, 0, start_at IS NULL, false,
        false, start_at, deadline, 1, at, at, parent, nullif(parent_step, 0), tags
      FROM unnest(made, ids, workflows, versions, priorities, statuses, ats, starts, deadlines, parents, tags,
        parent_steps)
        AS g (key, id, workflow, version, priority, status, at, start_at, deadline, parent, tags, parent_step)
      WHERE key > 0 ORDER BY id;
      EXIT;
    EXCEPTION WHEN unique_violation THEN
      made := triarch.free_keys(made, ids);
    END;
  END LOOP;
  INSERT INTO triarch.history (task, seq, at, events)
  SELECT g.key, 1, g.at, g.events FROM unnest(made, ats, events) AS g (key, at, events) WHERE g.key > 0;
  IF array_remove(tags, NULL) <> '{}' THEN PERFORM triarch.insert_tags(made, tags); END IF;
  IF 0 = ANY (made) THEN
    SELECT array_agg(CASE WHEN a.key > 0 THEN a.key ELSE -t.key END ORDER BY a.ord) INTO made
    FROM unnest(made, ids) WITH ORDINALITY AS a (key, id, ord) LEFT JOIN triarch.tasks t ON t.id = a.id;
  END IF;
  RETURN made;
END
$$;

-- As before, for those that have no parent.
CREATE OR REPLACE FUNCTION triarch.insert_tasks(
  ids text[], workflows text[], versions text[], priorities bigint[], statuses text[], ats bigint[], starts bigint[],
  deadlines bigint[], parents text[], tags text[], events text[]
) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
  RETURN triarch.insert_tasks(ids, workflows, versions, priorities, statuses, ats, starts, deadlines, parents, tags, events,
    NULL::bigint[]);
END
$$;

-- Creates the children of the accepted transitions. One that exists: if another task (or another step) waits for it, it
-- can never answer, so the parent is told instead of waiting for ever; the parent's own (asked for again after a retry)
-- answers once more, if it has stopped. What could not be made is named as data.
CREATE OR REPLACE FUNCTION triarch.start_children(
  done bigint[], child_of bigint[], child_step bigint[],
  ids text[], workflows text[], versions text[], priorities bigint[], statuses text[], ats bigint[], starts bigint[],
  deadlines bigint[], parents text[], tags text[], events text[]
) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  keys bigint[];
  letters_task bigint[];
  letters_message text[];
BEGIN
  IF EXISTS (SELECT 1 FROM unnest(child_of) AS c (tx) WHERE done[c.tx] <= 0) THEN
    SELECT array_agg(c.tx ORDER BY ord), array_agg(c.step ORDER BY ord), array_agg(c.id ORDER BY ord),
      array_agg(c.workflow ORDER BY ord), array_agg(c.version ORDER BY ord), array_agg(c.priority ORDER BY ord),
      array_agg(c.status ORDER BY ord), array_agg(c.at ORDER BY ord), array_agg(c.start_at ORDER BY ord),
      array_agg(c.deadline ORDER BY ord), array_agg(c.parent ORDER BY ord), array_agg(c.tags ORDER BY ord),
      array_agg(c.events ORDER BY ord)
    INTO child_of, child_step, ids, workflows, versions, priorities, statuses, ats, starts, deadlines, parents, tags,
      events
    FROM unnest(child_of, child_step, ids, workflows, versions, priorities, statuses, ats, starts, deadlines, parents,
      tags, events) WITH ORDINALITY
      AS c (tx, step, id, workflow, version, priority, status, at, start_at, deadline, parent, tags, events, ord)
    WHERE done[c.tx] > 0;
    IF child_of IS NULL THEN RETURN NULL; END IF;
  END IF;
  keys := triarch.insert_tasks(ids, workflows, versions, priorities, statuses, ats, starts, deadlines, parents, tags,
    events, child_step);

  SELECT array_agg(a.parent_key ORDER BY a.ord), array_agg(a.message ORDER BY a.ord)
  INTO letters_task, letters_message
  FROM (
    SELECT c.ord, done[c.tx] AS parent_key,
      CASE
        WHEN t.parent IS DISTINCT FROM c.parent
          OR coalesce(t.parent_step, triarch.first_step(t.key)) <> c.step
        THEN json_build_object('type', 'child', 'step', c.step, 'result', 'error',
          'refused', json_build_object('child', c.id, 'code', 'TASK_EXISTS'),
          -- For owners of an older version.
          'error', json_build_object('name', 'TriarchError', 'code', 'TASK_EXISTS',
            'message', 'task "' || c.id || '" exists already', 'details', json_build_object('task', c.id)))::text
        WHEN t.status = 'stopped' AND NOT (triarch.is_legible(t.output) AND triarch.is_legible(t.error))
        THEN json_build_object('type', 'child', 'step', c.step, 'result', 'error',
          'error', json_build_object('name', 'TriarchError', 'code', 'HISTORY_CORRUPT',
            'message', 'the row of task "' || c.id || '" cannot be read'))::text
        WHEN t.status = 'stopped'
        THEN concat('{"type":"child","step":', c.step, ',"result":', to_json(t.result),
          ',"output":' || t.output, ',"error":' || t.error, '}')
      END AS message
    FROM unnest(keys, child_of, child_step, ids, parents) WITH ORDINALITY AS c (key, tx, step, id, parent, ord)
    JOIN triarch.tasks t ON t.key = -c.key
    WHERE c.key < 0
  ) a WHERE a.message IS NOT NULL;
  IF letters_task IS NULL THEN
    RETURN ARRAY[NULL::text];
  END IF;
  RETURN triarch.deliver(letters_task, array_fill(false, ARRAY[cardinality(letters_task)]), letters_message)
    || NULL::text;
END
$$;
