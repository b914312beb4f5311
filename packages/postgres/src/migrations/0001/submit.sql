-- Creates the tasks whose id is new, each with its first record. Answers their keys in order: negative where the id
-- existed. Keys rise in the order given; rows are inserted in the order of ids, so that two that submit the same ids at
-- once wait for each other instead of dead-locking.
CREATE FUNCTION triarch.insert_tasks(
  ids text[], workflows text[], versions text[], priorities bigint[], statuses text[], ats bigint[], starts bigint[],
  deadlines bigint[], parents text[], tags text[], events text[]
) RETURNS bigint[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  answer bigint[];
BEGIN
  WITH given AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('triarch.tasks', 'key')) AS key, g.*
    FROM unnest(ids, workflows, versions, priorities, statuses, ats, starts, deadlines, parents, tags, events)
      WITH ORDINALITY AS g (id, workflow, version, priority, status, at, start_at, deadline, parent, tags, events, ord)
  ), made AS (
    INSERT INTO triarch.tasks AS t (key, id, workflow, version, priority, status, result, failures, epoch, ready, control,
      orphaned, wake_at, deadline, base_seq, submitted_at, updated_at, parent, tags)
    SELECT key, id, workflow, version, priority, status, 'pending', 0, 0, start_at IS NULL, false,
      false, start_at, deadline, 1, at, at, parent, tags
    FROM given ORDER BY id
    ON CONFLICT (id) DO NOTHING RETURNING t.key
  ), recorded AS (
    INSERT INTO triarch.history (task, seq, at, events)
    SELECT g.key, 1, g.at, g.events FROM given g JOIN made m ON m.key = g.key ORDER BY g.key
  ), tagged AS (
    INSERT INTO triarch.tags (name, value, task)
    SELECT tag.key, tag.value, g.key FROM given g JOIN made m ON m.key = g.key, json_each_text(g.tags::json) tag
    WHERE g.tags IS NOT NULL
  )
  SELECT array_agg(coalesce(m.key, 0) ORDER BY g.ord) INTO answer FROM given g LEFT JOIN made m ON m.key = g.key;
  IF array_position(answer, 0) IS NOT NULL THEN
    SELECT array_agg(CASE WHEN a.key > 0 THEN a.key ELSE -t.key END ORDER BY a.ord) INTO answer
    FROM unnest(answer, ids) WITH ORDINALITY AS a (key, id, ord) LEFT JOIN triarch.tasks t ON t.id = a.id;
  END IF;
  RETURN answer;
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
