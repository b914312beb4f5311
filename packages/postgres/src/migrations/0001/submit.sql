-- New tasks.

-- Draws keys for tasks that are about to be created. They are drawn before the rows are inserted: keys rise in the
-- order in which tasks were given, while rows are inserted in the order of ids, so that two transactions that submit
-- the same ids at once wait for each other instead of deadlocking.
CREATE FUNCTION triarch.new_keys(count integer) RETURNS bigint[] LANGUAGE sql VOLATILE AS $$
  SELECT array_agg(nextval('triarch.tasks_key_seq'::regclass)) FROM generate_series(1, count)
$$;

-- Returns the keys, with 0 for those that are not needed because their id exists, or came before in the list. It is
-- called when an insert has failed for that reason, which is rare; ON CONFLICT would cost a quarter of each insert. A
-- concurrent transaction that creates the same task has ended by then, because the insert has waited for it.
CREATE FUNCTION triarch.free_keys(keys bigint[], ids text[]) RETURNS bigint[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
DECLARE
  free bigint[];
BEGIN
  SELECT array_agg(CASE WHEN k.nth = 1 AND t.id IS NULL THEN k.key ELSE 0 END ORDER BY k.ord) INTO free
  FROM (SELECT g.*, row_number() OVER (PARTITION BY g.id ORDER BY g.ord) AS nth
    FROM unnest(keys, ids) WITH ORDINALITY AS g (key, id, ord)) k
  LEFT JOIN triarch.tasks t ON t.id = k.id;
  -- A caller's transaction with one snapshot for all its statements does not see the task that is in its way.
  IF free = keys THEN
    RAISE EXCEPTION 'a task was made meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN free;
END
$$;

-- Tags that PostgreSQL cannot read as JSON are shown with their task, but the task cannot be found by them: they must
-- not fail a user's transaction.
CREATE FUNCTION triarch.insert_tags(keys bigint[], tags text[]) RETURNS void LANGUAGE sql VOLATILE AS $$
  INSERT INTO triarch.tags (name, value, task)
  SELECT tag.key, tag.value #>> '{}', g.key FROM unnest(keys, tags) AS g (key, tags),
    json_each(CASE WHEN g.tags ~* '(^|[^\\])(\\\\)*\\u(0000|d[89a-f])' THEN '{}' ELSE g.tags END::json) tag
  WHERE g.tags IS NOT NULL AND g.key > 0 AND json_typeof(tag.value) = 'string'
$$;

-- Creates the tasks whose id is new, each with its first record. Returns their keys in order, negative where the id existed.
-- `parent_steps`: 0 or null where no step of a parent waits for the task.
CREATE FUNCTION triarch.insert_tasks(
  ids text[], workflows text[], versions text[], priorities bigint[], statuses text[], ats bigint[], starts bigint[],
  deadlines bigint[], parents text[], tags text[], events text[], parent_steps bigint[] DEFAULT NULL
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
      SELECT made[n], ids[n], workflows[n], versions[n], priorities[n], statuses[n], 'pending', 0, 0, starts[n] IS NULL, false,
        false, starts[n], deadlines[n], 1, ats[n], ats[n], parents[n], nullif(parent_steps[n], 0), insert_tasks.tags[n]
      FROM (SELECT g.n FROM unnest(made, ids) WITH ORDINALITY AS g (key, id, n) WHERE g.key > 0 ORDER BY g.id) g;
      EXIT;
    EXCEPTION WHEN unique_violation THEN
      made := triarch.free_keys(made, ids);
    END;
  END LOOP;
  INSERT INTO triarch.history (task, seq, at, events)
  SELECT g.key, 1, ats[g.n], insert_tasks.events[g.n] FROM unnest(made) WITH ORDINALITY AS g (key, n) WHERE g.key > 0;
  IF array_remove(tags, NULL) <> '{}' THEN PERFORM triarch.insert_tags(made, tags); END IF;
  IF 0 = ANY (made) THEN
    SELECT array_agg(CASE WHEN a.key > 0 THEN a.key ELSE -t.key END ORDER BY a.ord) INTO made
    FROM unnest(made, ids) WITH ORDINALITY AS a (key, id, ord) LEFT JOIN triarch.tasks t ON t.id = a.id;
  END IF;
  RETURN made;
END
$$;

CREATE FUNCTION triarch.submit(
  slot text, call bigint,
  ids text[], workflows text[], versions text[], priorities bigint[], statuses text[], ats bigint[], starts bigint[],
  deadlines bigint[], parents text[], tags text[], events text[]
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text := triarch.answered(slot, call);
BEGIN
  IF answer IS NULL THEN
    answer := array_to_string(triarch.insert_tasks(
      ids, workflows, versions, priorities, statuses, ats, starts, deadlines, parents, tags, events), ',', '0');
    PERFORM triarch.keep(slot, call, answer);
  END IF;
  RETURN answer;
END
$$;
