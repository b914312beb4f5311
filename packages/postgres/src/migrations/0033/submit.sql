-- As before (0008/origin.sql), by one position: see commit.sql.
CREATE OR REPLACE FUNCTION triarch.insert_tasks(
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
