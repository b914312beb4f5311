-- Workflow versions of which a task is ready (`=`, found by stepping from one to the next), any task that any scheduler can
-- act on (`!`), actions of which a request waits (`+`), nodes that have letters (`@`): what nobody has taken, or not yet.
-- Bounded, whatever has piled up.
CREATE FUNCTION triarch.untaken() RETURNS text[] LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  WITH RECURSIVE queues (workflow, version) AS (
    (SELECT t.workflow, t.version FROM triarch.tasks t WHERE t.ready ORDER BY t.workflow, t.version LIMIT 1)
    UNION ALL
    SELECT n.workflow, n.version FROM queues q, LATERAL (
      SELECT t.workflow, t.version FROM triarch.tasks t
      WHERE t.ready AND (t.workflow, t.version) > (q.workflow, q.version) ORDER BY t.workflow, t.version LIMIT 1) n),
  owners (id) AS (
    SELECT min(i.owner) FROM triarch.inbox i WHERE i.owner IS NOT NULL
    UNION ALL
    SELECT (SELECT min(i.owner) FROM triarch.inbox i WHERE i.owner IS NOT NULL AND i.owner > o.id)
    FROM owners o WHERE o.id IS NOT NULL)
  SELECT array_cat(
    ARRAY(SELECT concat('=', q.workflow, '@', q.version) FROM queues q LIMIT 200),
    array_cat(
      ARRAY(SELECT concat('!', c.workflow, '@', c.version)
        FROM (SELECT t.workflow, t.version FROM triarch.tasks t WHERE t.control LIMIT 1) c),
      array_cat(
        ARRAY(SELECT DISTINCT concat('+', w.action)
          FROM (SELECT x.action FROM triarch.work x WHERE x.locked_by IS NULL LIMIT 200) w),
        ARRAY(SELECT concat('@', o.id) FROM owners o WHERE o.id IS NOT NULL LIMIT 1000))))
$$;

-- Sleepers whose instant has passed are ready. Those who put them to sleep wake them in time; this is for those whose node
-- is no more. What nobody has taken comes with it, and whether a schedule is due.
CREATE FUNCTION triarch.overlooked(given_now bigint, size bigint) RETURNS TABLE (untaken text[], schedules boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
BEGIN
  IF EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.wake_at <= now) THEN
    UPDATE triarch.tasks t SET ready = true, wake_at = NULL
    WHERE t.key IN (SELECT s.key FROM triarch.tasks s WHERE s.wake_at <= now ORDER BY s.wake_at
      LIMIT size FOR UPDATE SKIP LOCKED);
  END IF;
  RETURN QUERY SELECT triarch.untaken(), EXISTS (SELECT 1 FROM triarch.schedules s WHERE s.next_at <= now);
END
$$;

-- All that a node asks when nobody has told it anything, in one read: is there mail for it, a task or a sleeper that is due
-- and that it can run, work for its agents; does nobody lead. `next_wake` is for the one that leads: others wake what they
-- put to sleep themselves. `living`: how many nodes there are.
CREATE FUNCTION triarch.look(
  given_now bigint, node text, workflows text[], versions text[], actions text[], lease text
) RETURNS TABLE (now bigint, mail boolean, tasks boolean, work boolean, vacant boolean, next_wake bigint, living bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  instant bigint := triarch.clock(given_now);
  leader text;
BEGIN
  SELECT l.holder INTO leader FROM triarch.leases l WHERE l.name = look.lease AND l.until > instant;
  RETURN QUERY SELECT instant,
    EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.owner = look.node),
    EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.wake_at <= instant)
      OR EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.control)
      OR EXISTS (SELECT 1 FROM unnest(workflows, versions) AS w (workflow, version)
        WHERE EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.ready AND t.workflow = w.workflow AND t.version = w.version)),
    EXISTS (SELECT 1 FROM unnest(actions) AS a (action) WHERE EXISTS (SELECT 1 FROM triarch.work w
      WHERE w.locked_by IS NULL AND w.agent = split_part(a.action, '.', 1) AND w.action = a.action)),
    leader IS NULL,
    CASE WHEN leader IS NULL OR leader = look.node
      THEN (SELECT t.wake_at FROM triarch.tasks t WHERE t.wake_at IS NOT NULL ORDER BY t.wake_at LIMIT 1) END,
    (SELECT count(*) FROM triarch.nodes n WHERE NOT n.dead);
END
$$;
