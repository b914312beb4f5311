-- Takes ready tasks: the highest priority first, then the oldest, of each workflow version's queue and of the control
-- queue; pile-ups elsewhere cost nothing. Rows that another claim, a delivery or a sweep holds are passed by: their turn
-- comes with the next claim. The lock checks again that a row is still ready, on its newest version.
-- A row with seq 0 for each task describes it; its records follow.
CREATE FUNCTION triarch.claim(
  slot text, call bigint, given_now bigint, node text, workflows text[], versions text[], size bigint, held text[]
) RETURNS TABLE (key bigint, seq bigint, at bigint, text text)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  answer text;
  taken bigint[];
  orphans bigint[];
BEGIN
  -- After a claim whose answer was lost for good: what the node does not know it owns is free again.
  IF held IS NOT NULL THEN PERFORM triarch.release_tasks(node, NULL, held); END IF;
  -- An idle look writes nothing, not even its number: nothing is lost when its answer is.
  IF NOT EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.wake_at <= now)
    AND NOT EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.control)
    AND NOT EXISTS (SELECT 1 FROM unnest(workflows, versions) AS w (workflow, version)
      WHERE EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.ready AND t.workflow = w.workflow AND t.version = w.version))
    AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = claim.slot AND c.number = claim.call)
  THEN RETURN; END IF;

  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    orphans := string_to_array(split_part(answer, ';', 2), ',')::bigint[];
    SELECT array_agg(t.key) INTO taken FROM triarch.tasks t
    WHERE t.key = ANY (string_to_array(split_part(answer, ';', 1), ',')::bigint[]) AND t.locked_by = node;
  ELSE
    -- A bound on the sleepers one claim wakes, for when a pile of them is due at the same instant.
    UPDATE triarch.tasks t SET ready = true, wake_at = NULL
    WHERE t.key IN (SELECT s.key FROM triarch.tasks s WHERE s.wake_at <= now ORDER BY s.wake_at
      LIMIT greatest(size, 1000) FOR UPDATE SKIP LOCKED);
    WITH best AS MATERIALIZED (
      SELECT r.key, r.priority FROM unnest(workflows, versions) AS w (workflow, version),
        LATERAL (SELECT t.key, t.priority FROM triarch.tasks t
          WHERE t.ready AND t.workflow = w.workflow AND t.version = w.version
          ORDER BY t.priority DESC, t.key LIMIT size FOR UPDATE SKIP LOCKED) r
      UNION
      SELECT c.key, c.priority FROM (SELECT t.key, t.priority FROM triarch.tasks t WHERE t.control
        ORDER BY t.priority DESC, t.key LIMIT size FOR UPDATE SKIP LOCKED) c
    )
    SELECT array_agg(b.key) INTO taken FROM (SELECT b.key FROM best b ORDER BY b.priority DESC, b.key LIMIT size) b;
    SELECT array_agg(t.key) INTO orphans FROM triarch.tasks t WHERE t.key = ANY (taken) AND t.orphaned;
    UPDATE triarch.tasks t SET locked_by = node, epoch = t.epoch + 1, ready = false, control = false,
      orphaned = false, wake_at = NULL
    WHERE t.key = ANY (taken);
    UPDATE triarch.inbox i SET owner = node WHERE i.task = ANY (taken);
    PERFORM triarch.keep(slot, call, concat(array_to_string(taken, ','), ';', array_to_string(orphans, ',')));
  END IF;

  RETURN QUERY SELECT t.key, 0::bigint, 0::bigint, json_build_object(
    'id', t.id, 'workflow', t.workflow, 'version', t.version, 'epoch', t.epoch,
    'orphaned', coalesce(t.key = ANY (orphans), false),
    'letters', coalesce((SELECT json_agg(json_build_object('id', i.id, 'message', i.message::json) ORDER BY i.id)
      FROM triarch.inbox i WHERE i.task = t.key), '[]'),
    'work', coalesce((SELECT json_agg(json_build_object('step', w.step, 'operation', w.operation,
      'attempt', w.attempt) ORDER BY w.id) FROM triarch.work w WHERE w.task = t.key), '[]'))::text
  FROM triarch.tasks t WHERE t.key = ANY (taken) ORDER BY t.priority DESC, t.key;
  RETURN QUERY SELECT h.task, h.seq::bigint, h.at, h.events 
  FROM triarch.tasks t, LATERAL (
    SELECT f.* FROM triarch.history f WHERE f.task = t.key AND f.seq = 1
    UNION SELECT f.* FROM triarch.history f WHERE f.task = t.key AND f.seq >= t.base_seq) h
  WHERE t.key = ANY (taken) ORDER BY h.task, h.seq;
END
$$;

-- The undelivered letters of the tasks a node owns, oldest first. Ids are not the order of commits: a reader asks for the
-- first so many, not for those above the last one it saw.
CREATE FUNCTION triarch.letters(node text, size bigint) RETURNS TABLE (id bigint, key bigint, message text)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT i.id, i.task, i.message FROM triarch.inbox i WHERE i.owner = node ORDER BY i.owner, i.id LIMIT size;
END
$$;
