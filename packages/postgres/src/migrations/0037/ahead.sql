-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- A submission that is alone is told of while it is on its way to disk (docs/decisions/0136-told-while-it-is-flushed.md).

-- As before (0033/one.sql), but what was answered before may not be on disk: who hears of it waits for that.
CREATE OR REPLACE FUNCTION triarch.submit_one(
  slot text, call bigint, id text, workflow text, version text, priority bigint, status text, at bigint, start_at bigint,
  deadline bigint, parent text, tags text, events text
) RETURNS text LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  answer text := triarch.answered(slot, call);
  made bigint := nextval('triarch.tasks_key_seq'::regclass);
BEGIN
  IF answer IS NOT NULL THEN
    PERFORM 1 FROM triarch.calls c WHERE c.slot = submit_one.slot AND c.number = call FOR UPDATE;
    RETURN answer;
  END IF;
  BEGIN
    INSERT INTO triarch.tasks (key, id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned,
      wake_at, deadline, base_seq, submitted_at, updated_at, parent, tags)
    VALUES (made, id, workflow, version, priority, status, 'pending', 0, 0, start_at IS NULL, false, false,
      start_at, deadline, 1, at, at, parent, tags);
    answer := made;
  EXCEPTION WHEN unique_violation THEN
    PERFORM triarch.free_keys(ARRAY[made], ARRAY[id]);
    SELECT -t.key INTO answer FROM triarch.tasks t WHERE t.id = submit_one.id;
  END;
  IF answer = made::text THEN
    INSERT INTO triarch.history (task, seq, at, events) VALUES (made, 1, at, events);
    IF tags IS NOT NULL THEN PERFORM triarch.insert_tags(ARRAY[made], ARRAY[tags]); END IF;
  END IF;
  PERFORM triarch.keep(slot, call, answer);
  RETURN answer;
END
$$;

-- As before (0035/aloud.sql), but others hear of it before it is on disk, and who submitted it once it is: the third transaction locks the
-- row of this call, which writes to the log, and so waits until all that was written before is flushed.
CREATE OR REPLACE PROCEDURE triarch.submit_one_aloud(
  moment text, breath text, slot text, call bigint, id text, workflow text, version text, priority bigint, status text, at bigint, start_at bigint,
  deadline bigint, parent text, tags text, events text, channel text, words text, INOUT answer text
) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  PERFORM set_config('lock_timeout', moment, true), set_config('synchronous_commit', 'off', true);
  answer := triarch.submit_one(slot, call, id, workflow, version, priority, status, at, start_at, deadline, parent, tags, events);
  COMMIT;
  PERFORM set_config('lock_timeout', breath, true);
  PERFORM pg_notify(channel, words);
  COMMIT;
  PERFORM 1 FROM triarch.calls c WHERE c.slot = submit_one_aloud.slot AND c.number = call FOR UPDATE;
END
$$;
