-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Counting anew (docs/decisions/0092-statistics.md): what was counted is dropped bit by bit by whoever counts. `since`: when that was asked for,
-- the last time; `goal`: the highest key of a task then.
ALTER TABLE triarch.counting ADD COLUMN anew boolean NOT NULL DEFAULT false;
ALTER TABLE triarch.counting ADD COLUMN since bigint;
ALTER TABLE triarch.counting ADD COLUMN goal bigint;

CREATE OR REPLACE FUNCTION triarch.follow_history(
  given_now bigint, name text, token bigint, after bigint, look bigint, size bigint, audit bigint
) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  behind boolean := false;
  audited bigint := follow_history.audit;
  seen bigint;
  last bigint;
  looked bigint;
  page jsonb;
  ending bigint;
  gone bigint;
  shed bigint;
BEGIN
  PERFORM 1 FROM triarch.leases l WHERE l.name = follow_history.name AND l.token = follow_history.token AND l.until > now FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM 1 FROM triarch.counting c WHERE c.anew FOR UPDATE;
  IF FOUND THEN
    DELETE FROM triarch.followed f WHERE f.task IN (SELECT d.task FROM triarch.followed d ORDER BY d.task LIMIT follow_history.look);
    GET DIAGNOSTICS gone = ROW_COUNT;
    DELETE FROM triarch.statistics s WHERE s.ctid = ANY (ARRAY(SELECT d.ctid FROM triarch.statistics d LIMIT follow_history.look));
    GET DIAGNOSTICS shed = ROW_COUNT;
    IF gone < follow_history.look AND shed < follow_history.look THEN
      UPDATE triarch.counting c SET anew = false, settled = 0, highest = 0, holders = '{}', as_of = NULL;
    END IF;
    -- Who does not know "anew" finds nothing to count, and asks again.
    RETURN jsonb_build_object('at', now, 'tasks', '[]'::jsonb, 'audited', 0, 'behind', true, 'anew', true, 'next', NULL);
  END IF;
  IF follow_history.after = 0 THEN
    behind := triarch.discover_tasks(follow_history.look);
    SELECT count(*), coalesce(max(a.task), 0) INTO seen, audited FROM (
      SELECT f.task FROM triarch.followed f WHERE f.task > follow_history.audit ORDER BY f.task LIMIT follow_history.look) a;
    DELETE FROM triarch.followed f WHERE f.task > follow_history.audit AND f.task <= audited
      AND NOT EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.key = f.task);
    UPDATE triarch.followed f SET done = false WHERE f.task > follow_history.audit AND f.task <= audited AND f.done
      AND EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = f.task AND h.seq > f.seq);
    IF seen < follow_history.look THEN audited := 0; END IF;
  END IF;
  SELECT count(*), coalesce(max(o.task), follow_history.after) INTO looked, last FROM (
    SELECT f.task FROM triarch.followed f WHERE NOT f.done AND f.task > follow_history.after ORDER BY f.task LIMIT follow_history.look) o;
  SELECT coalesce(jsonb_agg(jsonb_build_object('key', p.task, 'id', p.id, 'seq', p.seq, 'state', p.state) ORDER BY p.task), '[]'),
    max(p.task)
  INTO page, ending FROM (
    SELECT f.task, t.id, f.seq, f.state FROM triarch.followed f JOIN triarch.tasks t ON t.key = f.task
    WHERE NOT f.done AND f.task > follow_history.after AND f.task <= last
      AND EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = f.task AND h.seq > f.seq)
    ORDER BY f.task LIMIT follow_history.size) p;
  RETURN jsonb_build_object('at', now, 'tasks', page, 'audited', audited, 'behind', behind, 'next',
    CASE WHEN jsonb_array_length(page) = follow_history.size THEN ending WHEN looked = follow_history.look THEN last END);
END
$$;
