-- As before (0015/reply.sql), but a reply that is alone takes its request away by all that the agent knows of it: then that is no other's, and
-- nothing has to be taken back. What that does not find, and what is not alone, is for `reply_many`.
ALTER FUNCTION triarch.reply(text, bigint, text, bigint[], text[], text[], bigint[], text[], bigint[]) RENAME TO reply_many;

CREATE FUNCTION triarch.reply(
  slot text, call bigint, node text, ids bigint[], messages text[],
  of_tasks text[], steps bigint[], operations text[], attempts bigint[]
) RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  one bigint;
  owner text;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN RETURN NEXT; RETURN; END IF;
  IF cardinality(ids) = 1 THEN
    DELETE FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ids[1] AND w.step = steps[1] AND w.operation = operations[1] AND w.attempt = attempts[1]
      AND (SELECT t.id FROM triarch.tasks t WHERE t.key = w.task) = of_tasks[1]
    RETURNING w.task INTO one;
  END IF;
  IF one IS NULL THEN
    SELECT r.answer, r.owners INTO answer, owners
    FROM triarch.reply_many(NULL, call, node, ids, messages, of_tasks, steps, operations, attempts) r;
  ELSE
    -- By the locks of `deliver`.
    SELECT t.locked_by INTO owner FROM triarch.tasks t WHERE t.key = one FOR KEY SHARE;
    IF owner IS NULL THEN
      owners := triarch.deliver(ARRAY[one], ARRAY[false], messages);
    ELSE
      INSERT INTO triarch.inbox (task, owner, control, message) VALUES (one, owner, false, messages[1]);
      owners := ARRAY[owner];
    END IF;
    answer := one;
  END IF;
  PERFORM triarch.keep(slot, call, answer);
  RETURN NEXT;
END
$$;
