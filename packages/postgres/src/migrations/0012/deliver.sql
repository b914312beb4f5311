-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As before (0001/deliver.sql), and says which tasks became claimable: null among the owners, for nodes that tell everybody
-- then, and besides `=workflow@version`, or `!workflow@version` when any scheduler can act on the letter.
CREATE OR REPLACE FUNCTION triarch.deliver(tasks bigint[], controls boolean[], messages text[]) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  owners text[];
BEGIN
  PERFORM 1 FROM triarch.tasks t WHERE t.key = ANY (tasks) ORDER BY t.key FOR KEY SHARE;
  WITH delivered AS (
    INSERT INTO triarch.inbox AS i (task, owner, control, message)
    SELECT t.key, t.locked_by, m.control, m.message
    FROM unnest(tasks, controls, messages) WITH ORDINALITY AS m (task, control, message, ord)
    JOIN triarch.tasks t ON t.key = m.task
    ORDER BY m.ord
    RETURNING i.owner)
  SELECT array_agg(DISTINCT d.owner) INTO owners FROM delivered d;
  IF array_position(owners, NULL) IS NOT NULL THEN
    PERFORM 1 FROM triarch.tasks t WHERE t.key = ANY (tasks) AND t.locked_by IS NULL ORDER BY t.key FOR NO KEY UPDATE;
    WITH raised AS (
      UPDATE triarch.tasks t SET ready = true, control = t.control OR m.control
      FROM (SELECT m.task, bool_or(m.control) AS control FROM unnest(tasks, controls) AS m (task, control) GROUP BY 1) m
      WHERE t.key = m.task AND t.locked_by IS NULL AND (NOT t.ready OR (m.control AND NOT t.control))
      RETURNING t.workflow, t.version, t.control)
    SELECT owners || array_agg(concat(CASE WHEN r.control THEN '!' ELSE '=' END, r.workflow, '@', r.version)) INTO owners
    FROM raised r;
  END IF;
  RETURN owners;
END
$$;
