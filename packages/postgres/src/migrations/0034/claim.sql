-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- What a claim finds in a quiet store is one new task, and of its fifteen statements that needs six
-- (docs/decisions/0128-one-of-each-call.md). `take_many` is `take_tasks` as it was (0033/claim.sql): it takes whatever else there is.
ALTER FUNCTION triarch.take_tasks(
  text, bigint, bigint, text, text[], text[], bigint, text[], bigint, bigint, bigint, bigint, bigint, bigint[]
) RENAME TO take_many;

CREATE FUNCTION triarch.take_tasks(
  slot text, call bigint, given_now bigint, node text, workflows text[], versions text[], size bigint, held text[],
  most_records bigint, most_bytes bigint, most_letters bigint, letter_bytes bigint, trials bigint,
  except_keys bigint[]
) RETURNS TABLE (key bigint, seq bigint, at bigint, text text)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint;
  others boolean;
  found_keys bigint;
  one bigint;
  called text;
  of_workflow text;
  of_version text;
BEGIN
  IF held IS NULL AND triarch.answered(slot, call) IS NULL THEN
    now := triarch.clock(given_now);
    others := EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.wake_at <= now) OR EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.control)
      OR EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.ready AND t.suspicion >= 2);
    -- Two are as good as many.
    SELECT count(*), min(c.key) INTO found_keys, one FROM (
      SELECT r.key FROM unnest(workflows) WITH ORDINALITY AS w (workflow, n),
        LATERAL (SELECT t.key FROM triarch.tasks t
          WHERE t.ready AND t.workflow = w.workflow AND t.version = versions[w.n] AND t.suspicion < 2 AND t.key <> ALL (except_keys)
          ORDER BY t.priority DESC, coalesce(t.readied, t.key) LIMIT 2 FOR UPDATE SKIP LOCKED) r
      WHERE NOT others LIMIT 2) c;
    -- An idle look writes nothing, not even its number: nothing is lost when its answer is.
    IF found_keys = 0 AND NOT others THEN RETURN; END IF;
    -- Its row is locked: no letter comes before it has an owner.
    IF found_keys = 1 AND NOT EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.task = one)
      AND NOT EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = one AND h.seq > 1)
    THEN
      UPDATE triarch.tasks t SET locked_by = node, epoch = 1, ready = false, control = false, wake_at = NULL, suspicion = 0, on_trial = false
      WHERE t.key = one AND t.epoch = 0 AND NOT t.orphaned
      RETURNING t.id, t.workflow, t.version INTO called, of_workflow, of_version;
      IF FOUND THEN
        PERFORM triarch.keep(slot, call, concat(one, ';;;', CASE WHEN size = 1 THEN 'more' END));
        key := one;
        seq := 0;
        at := 0;
        text := json_build_object('id', called, 'workflow', of_workflow, 'version', of_version, 'epoch', 1, 'orphaned', false,
          'work', json '[]', 'rest', NULL, 'unread', false, 'more', size = 1, 'strikes', NULL);
        RETURN NEXT;
        RETURN QUERY SELECT h.task, h.seq::bigint, h.at, h.events FROM triarch.history h WHERE h.task = one AND h.seq = 1;
        RETURN;
      END IF;
    END IF;
  END IF;
  RETURN QUERY SELECT t.* FROM triarch.take_many(slot, call, given_now, node, workflows, versions, size, held, most_records, most_bytes,
    most_letters, letter_bytes, trials, except_keys) t;
END
$$;
