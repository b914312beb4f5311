-- Messages to tasks: delivered, posted from outside on conditions, and read by the owners of the tasks.

-- Puts messages into inboxes, in their order, and makes tasks that have no owner ready. It runs inside a transaction of
-- its callers. The weak lock keeps a task's owner as it is: a transaction that claims or releases a task locks it FOR
-- UPDATE first, so either it sees the message, or this function sees the new owner. It does not disturb ordinary
-- commits of the owner. Returns the owners of the tasks without repetition. Where a task became ready there is a null
-- among them, and besides `=workflow@version`, or `!workflow@version` when any scheduler can act on the message.
CREATE FUNCTION triarch.deliver(tasks bigint[], controls boolean[], kinds text[], names text[], messages text[]) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  owners text[];
BEGIN
  PERFORM 1 FROM triarch.tasks t WHERE t.key = ANY (tasks) ORDER BY t.key FOR KEY SHARE;
  WITH delivered AS (
    INSERT INTO triarch.inbox AS i (task, owner, control, kind, name, message)
    SELECT t.key, t.locked_by, m.control, m.kind, m.name, m.message
    FROM unnest(tasks, controls, kinds, names, messages) WITH ORDINALITY AS m (task, control, kind, name, message, ord)
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

-- Delivers messages of one kind, which have no names, and for which a scheduler needs the workflow.
CREATE FUNCTION triarch.deliver_all(tasks bigint[], kind text, messages text[]) RETURNS text[] LANGUAGE sql AS $$
  SELECT triarch.deliver(tasks, array_fill(false, ARRAY[cardinality(tasks)]), array_fill(kind, ARRAY[cardinality(tasks)]), NULL, messages)
$$;

-- Returns the tasks among these that a message can be delivered to without waiting for another transaction. They stay
-- so until the transaction ends.
CREATE FUNCTION triarch.within_reach(tasks bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  owned bigint[];
  unowned bigint[];
BEGIN
  SELECT array_agg(k.key) FILTER (WHERE k.locked_by IS NOT NULL), array_agg(k.key) FILTER (WHERE k.locked_by IS NULL)
  INTO owned, unowned
  FROM (SELECT t.key, t.locked_by FROM triarch.tasks t WHERE t.key = ANY (within_reach.tasks) ORDER BY t.key
    FOR KEY SHARE SKIP LOCKED) k;
  IF unowned IS NOT NULL THEN
    SELECT owned || array_agg(k.key) INTO owned
    FROM (SELECT t.key FROM triarch.tasks t WHERE t.key = ANY (unowned) ORDER BY t.key FOR NO KEY UPDATE SKIP LOCKED) k;
  END IF;
  RETURN owned;
END
$$;

-- Returns the last record of a task. It is a function of its own so that statements which do not need it do not touch the history.
CREATE FUNCTION triarch.last_record(of_task bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
  RETURN (SELECT h.seq FROM triarch.history h WHERE h.task = of_task ORDER BY h.seq DESC LIMIT 1);
END
$$;

-- Returns for each message the key of its task, or why it is not accepted: 0: there is no such task, -1: the state of
-- the task accepts no such message, -2: there is no room for it. `fits`: the states that accept it, separated by
-- spaces; null: all do. A task that has not stopped and has an unread `pause` counts as paused, too: messages are read
-- in order. `letters`, `bytes`: how many messages of this kind, and of which size, the task may have with it, counting
-- unread ones and those it has read but not used (which its own message of type `kept` states, or else `unsaid`); null:
-- there is no bound. `as_of`: the last record that `unsaid` takes into account; once there is a later one, there is no
-- room. `only_kinds`, `only_names`: the messages that count, by number only; without a name all of the kind. `scarce`:
-- other transactions that write now may take the room.
CREATE FUNCTION triarch.judged(ids text[], messages text[], fits text[], letters bigint[], bytes bigint[],
  unsaid_letters bigint[], unsaid_bytes bigint[], only_kinds text[], only_names text[], as_of bigint[])
RETURNS TABLE (ord bigint, key bigint, verdict bigint, scarce boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
BEGIN
  RETURN QUERY SELECT p.ord, t.key,
    CASE
      WHEN t.key IS NULL THEN 0::bigint
      WHEN strpos(' ' || p.fits || ' ', concat(' ', t.status, CASE t.status WHEN 'stopped' THEN '/' || t.result END, ' ')) = 0
        AND NOT (t.status <> 'stopped' AND strpos(' ' || p.fits || ' ', ' paused ') > 0
          AND EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.task = t.key AND i.kind = 'pause'))
        THEN -1
      WHEN p.as_of IS NOT NULL AND p.as_of <> triarch.last_record(t.key) THEN -2
      WHEN p.only_kind IS NOT NULL THEN CASE WHEN u.alike < p.letters THEN t.key ELSE -2 END
      WHEN u.letters + k.letters >= p.letters THEN -2
      WHEN u.bytes + k.bytes + octet_length(p.message) > p.bytes AND (u.letters > 0 OR u.said > 0) THEN -2
      ELSE t.key END,
    -- As many may write at the same time, each a message of this size.
    p.letters - CASE WHEN p.only_kind IS NULL THEN u.letters + k.letters ELSE u.alike END <= 256
      OR p.only_kind IS NULL AND u.bytes + k.bytes + 256 * octet_length(p.message) > p.bytes
  FROM unnest(ids, messages, fits, letters, bytes, unsaid_letters, unsaid_bytes, only_kinds, only_names, as_of) WITH ORDINALITY
    AS p (id, message, fits, letters, bytes, unsaid_letters, unsaid_bytes, only_kind, only_name, as_of, ord)
  LEFT JOIN triarch.tasks t ON t.id = p.id
  LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE i.kind IN ('event', 'signal')) AS letters,
      coalesce(sum(octet_length(i.message)) FILTER (WHERE i.kind IN ('event', 'signal')), 0) AS bytes,
      count(*) FILTER (WHERE i.kind = 'kept') AS said,
      sum(substring(i.message FROM '"letters":(-?\d+)')::bigint) FILTER (WHERE i.kind = 'kept') AS said_letters,
      sum(substring(i.message FROM '"bytes":(-?\d+)')::bigint) FILTER (WHERE i.kind = 'kept') AS said_bytes,
      count(*) FILTER (WHERE i.kind = p.only_kind AND (p.only_name IS NULL OR i.name = p.only_name)) AS alike
    FROM triarch.inbox i WHERE p.letters IS NOT NULL AND i.task = t.key) u ON true
  CROSS JOIN LATERAL (
    SELECT CASE WHEN u.said > 0 THEN u.said_letters ELSE p.unsaid_letters END AS letters,
      CASE WHEN u.said > 0 THEN u.said_bytes ELSE p.unsaid_bytes END AS bytes) k;
END
$$;

-- Delivers messages on conditions. Returns the results of `judged`. Where room is scarce, senders take turns.
CREATE FUNCTION triarch.post_on_terms(slot text, call bigint, ids text[], controls boolean[], kinds text[], names text[], messages text[],
  fits text[], letters bigint[], bytes bigint[], unsaid_letters bigint[], unsaid_bytes bigint[], only_kinds text[], only_names text[],
  as_of bigint[])
RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  verdicts bigint[];
  scarce bigint[];
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NULL THEN
    SELECT array_agg(j.verdict ORDER BY j.ord), array_agg(DISTINCT j.key ORDER BY j.key) FILTER (WHERE j.scarce AND j.key IS NOT NULL)
    INTO verdicts, scarce
    FROM triarch.judged(ids, messages, fits, letters, bytes, unsaid_letters, unsaid_bytes, only_kinds, only_names, as_of) j;
    IF scarce IS NOT NULL THEN
      FOR i IN 1 .. cardinality(scarce) LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended('triarch.mailbox', scarce[i]));
      END LOOP;
      -- What others wrote meanwhile counts: a statement that begins now sees it.
      SELECT array_agg(j.verdict ORDER BY j.ord) INTO verdicts
      FROM triarch.judged(ids, messages, fits, letters, bytes, unsaid_letters, unsaid_bytes, only_kinds, only_names, as_of) j;
    END IF;
    SELECT triarch.deliver(array_agg(v.key ORDER BY v.ord), array_agg(v.control ORDER BY v.ord), array_agg(v.kind ORDER BY v.ord),
      array_agg(v.name ORDER BY v.ord), array_agg(v.message ORDER BY v.ord)) INTO owners
    FROM unnest(verdicts, controls, kinds, names, messages) WITH ORDINALITY AS v (key, control, kind, name, message, ord)
    WHERE v.key > 0 HAVING count(*) > 0;
    answer := array_to_string(verdicts, ',');
    PERFORM triarch.keep(slot, call, answer);
  END IF;
  RETURN NEXT;
END
$$;

-- Returns the undelivered messages of the tasks that a node owns, oldest first, up to the one that reaches a bound. The
-- messages in `held`, which the node has and whose consumption is being written, count for the bounds but are not
-- returned again. `more` states with the last message whether a bound kept others out, so that one is always returned.
-- Ids are not in the order of commits: a reader asks for the first ones, not for those after the last it saw.
CREATE FUNCTION triarch.letters_beside(node text, size bigint, bytes bigint, held bigint[])
RETURNS TABLE (id bigint, key bigint, message text, more boolean)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT l.id, l.task, l.message, l.more FROM (
    SELECT i.id, i.task, i.message, sum(octet_length(i.message)) OVER up - octet_length(i.message) AS before,
      sum(octet_length(i.message)) OVER up >= bytes OR row_number() OVER up = size AS more
    FROM (SELECT o.* FROM triarch.inbox o WHERE o.owner = node ORDER BY o.owner, o.id LIMIT size) i
    WINDOW up AS (ORDER BY i.id ROWS UNBOUNDED PRECEDING)) l
  WHERE l.before < bytes AND (l.more OR l.id NOT IN (SELECT h.id FROM unnest(held) AS h (id))) ORDER BY l.id;
END
$$;

-- Returns the oldest messages of each task that a node owns, in the order of keys after `after`.
CREATE FUNCTION triarch.letters_each(
  node text, size bigint, bytes bigint, each_size bigint, each_bytes bigint, after bigint, skip bigint[]
) RETURNS TABLE (id bigint, key bigint, message text)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT l.id, l.task, l.message FROM (
    SELECT e.id, e.task, e.message, sum(octet_length(e.message)) OVER (ORDER BY e.task, e.id) - octet_length(e.message) AS before,
      sum(octet_length(e.message)) OVER (PARTITION BY e.task ORDER BY e.id) - octet_length(e.message) AS own
    FROM (SELECT i.* FROM triarch.tasks t, LATERAL (
        SELECT o.* FROM triarch.inbox o WHERE o.task = t.key ORDER BY o.id LIMIT each_size) i
      WHERE t.locked_by = node AND t.key > after AND t.key <> ALL (skip) ORDER BY t.key, i.id LIMIT size) e) l
  WHERE l.before < bytes AND l.own < each_bytes ORDER BY l.task, l.id;
END
$$;

-- Returns the messages of one task after the message `after`.
CREATE FUNCTION triarch.letters_of(of_task bigint, after bigint, size bigint, bytes bigint)
RETURNS TABLE (id bigint, key bigint, message text)
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  SELECT l.id, l.task, l.message FROM (
    SELECT i.*, sum(octet_length(i.message)) OVER (ORDER BY i.id) - octet_length(i.message) AS before
    FROM (SELECT o.* FROM triarch.inbox o WHERE o.task = of_task AND o.id > after ORDER BY o.id LIMIT size) i) l
  WHERE l.before < bytes ORDER BY l.id
$$;
