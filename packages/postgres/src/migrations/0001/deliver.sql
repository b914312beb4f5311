-- Puts letters into inboxes, in their order; makes unowned tasks claimable. Inside a transaction of its callers.
-- The weak lock keeps a task's owner as it is: who takes or gives back a task locks it FOR UPDATE first, so either that
-- one sees the letter, or we see the new owner. Ordinary commits of the owner are not disturbed by it.
-- Answers the owners of the tasks, without repetition; null among them when a task became claimable.
CREATE FUNCTION triarch.deliver(tasks bigint[], controls boolean[], messages text[]) RETURNS text[]
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
    UPDATE triarch.tasks t SET ready = true, control = t.control OR m.control
    FROM (SELECT m.task, bool_or(m.control) AS control FROM unnest(tasks, controls) AS m (task, control) GROUP BY 1) m
    WHERE t.key = m.task AND t.locked_by IS NULL AND (NOT t.ready OR (m.control AND NOT t.control));
  END IF;
  RETURN owners;
END
$$;

CREATE FUNCTION triarch.post(slot text, call bigint, ids text[], controls boolean[], messages text[])
RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  keys bigint[];
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NULL THEN
    SELECT array_agg(coalesce(t.key, 0) ORDER BY p.ord) INTO keys
    FROM unnest(ids) WITH ORDINALITY AS p (id, ord) LEFT JOIN triarch.tasks t ON t.id = p.id;
    owners := triarch.deliver(keys, controls, messages);
    answer := array_to_string(keys, ',');
    PERFORM triarch.keep(slot, call, answer);
  END IF;
  RETURN NEXT;
END
$$;
