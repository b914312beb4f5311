-- What is alone, and the words that tell of it, by one call (docs/decisions/0133-said-by-the-call.md): they are said once it is committed,
-- in a transaction of their own, for who notifies keeps all others who do waiting until it is flushed. What is committed stays if they cannot be
-- said: then the call fails, and its answer is to be asked for by its number. `moment`, `breath`: how long it waits for rows of others, and its
-- words for those of others (ms).
CREATE PROCEDURE triarch.submit_one_aloud(
  moment text, breath text, slot text, call bigint, id text, workflow text, version text, priority bigint, status text, at bigint, start_at bigint,
  deadline bigint, parent text, tags text, events text, channel text, words text, INOUT answer text
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', moment, true);
  answer := triarch.submit_one(slot, call, id, workflow, version, priority, status, at, start_at, deadline, parent, tags, events);
  COMMIT;
  PERFORM set_config('lock_timeout', breath, true);
  PERFORM pg_notify(channel, words);
END
$$;

-- Nothing is said of what was refused.
CREATE PROCEDURE triarch.commit_one_aloud(
  moment text, breath text, slot text, call bigint, key bigint, id text, node text, epoch bigint, seq bigint, at bigint, last_at bigint, events text,
  letters bigint[], status text, result text, failures bigint, deadline bigint, progress text, output text, error text, pause text,
  wake_at bigint, ready boolean, orphaned boolean,
  work_step bigint, work_operation text, work_attempt bigint, work_agent text, work_action text, work_priority bigint,
  work_complete_within bigint, work_heartbeat_within bigint, work_expires_at bigint, work_request text,
  channel text, words text, INOUT answer text, INOUT owners text[], INOUT told text
) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('lock_timeout', moment, true);
  SELECT c.answer, c.owners INTO answer, owners FROM triarch.commit_one(slot, call, key, id, node, epoch, seq, at, last_at, events,
    letters, status, result, failures, deadline, progress, output, error, pause, wake_at, ready, orphaned,
    work_step, work_operation, work_attempt, work_agent, work_action, work_priority,
    work_complete_within, work_heartbeat_within, work_expires_at, work_request) c;
  told := nullif(current_setting('triarch_gate.told', true), '');
  IF answer <> '0' THEN
    COMMIT;
    PERFORM set_config('lock_timeout', breath, true);
    PERFORM pg_notify(channel, words);
  END IF;
END
$$;
