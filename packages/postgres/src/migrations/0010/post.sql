-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Apart, so that who does not ask for it does not touch the history.
CREATE FUNCTION triarch.last_record(of_task bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
  RETURN (SELECT h.seq FROM triarch.history h WHERE h.task = of_task ORDER BY h.seq DESC LIMIT 1);
END
$$;

-- For each message the key of its task, or why it is not taken: 0: there is no such task, -1: its state takes no such message,
-- -2: there is no room for it. `fits`: states separated by spaces, null: whatever it does. `letters`, `bytes`: the most that the
-- task may have of such mail with it, unread and (by its own letters of type `kept`, or else `unsaid`) unheard; null: no bound.
-- `as_of`: the last record by which `unsaid` is known; there is no room once there is another. `such`: the text with which letters begin that count, in number. `scarce`: others that write now may take the room.
CREATE FUNCTION triarch.judged(ids text[], messages text[], fits text[], letters bigint[], bytes bigint[],
  unsaid_letters bigint[], unsaid_bytes bigint[], such text[], as_of bigint[])
RETURNS TABLE (ord bigint, key bigint, verdict bigint, scarce boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
BEGIN
  RETURN QUERY SELECT p.ord, t.key,
    CASE
      WHEN t.key IS NULL THEN 0::bigint
      WHEN strpos(' ' || p.fits || ' ', concat(' ', t.status, CASE t.status WHEN 'stopped' THEN '/' || t.result END, ' ')) = 0
        THEN -1
      WHEN p.as_of IS NOT NULL AND p.as_of <> triarch.last_record(t.key) THEN -2
      WHEN p.such IS NOT NULL THEN CASE WHEN u.alike < p.letters THEN t.key ELSE -2 END
      WHEN u.letters + k.letters >= p.letters THEN -2
      WHEN u.bytes + k.bytes + octet_length(p.message) > p.bytes AND (u.letters > 0 OR u.said > 0) THEN -2
      ELSE t.key END,
    -- As many may write at the same time, each as much.
    p.letters - CASE WHEN p.such IS NULL THEN u.letters + k.letters ELSE u.alike END <= 256
      OR p.such IS NULL AND u.bytes + k.bytes + 256 * octet_length(p.message) > p.bytes
  FROM unnest(ids, messages, fits, letters, bytes, unsaid_letters, unsaid_bytes, such, as_of) WITH ORDINALITY
    AS p (id, message, fits, letters, bytes, unsaid_letters, unsaid_bytes, such, as_of, ord)
  LEFT JOIN triarch.tasks t ON t.id = p.id
  LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE m.head IN ('{"type":"event"', '{"type":"signal')) AS letters,
      coalesce(sum(m.size) FILTER (WHERE m.head IN ('{"type":"event"', '{"type":"signal')), 0) AS bytes,
      count(*) FILTER (WHERE m.said) AS said,
      sum(substring(m.message FROM '"letters":(-?\d+)')::bigint) FILTER (WHERE m.said) AS said_letters,
      sum(substring(m.message FROM '"bytes":(-?\d+)')::bigint) FILTER (WHERE m.said) AS said_bytes,
      count(*) FILTER (WHERE substr(m.message, 1, length(p.such)) = p.such) AS alike
    FROM (SELECT i.message, octet_length(i.message) AS size, substr(i.message, 1, 15) AS head,
        octet_length(i.message) < 128 AND starts_with(i.message, '{"type":"kept"') AS said
      FROM triarch.inbox i WHERE p.letters IS NOT NULL AND i.task = t.key) m) u ON true
  CROSS JOIN LATERAL (
    SELECT CASE WHEN u.said > 0 THEN u.said_letters ELSE p.unsaid_letters END AS letters,
      CASE WHEN u.said > 0 THEN u.said_bytes ELSE p.unsaid_bytes END AS bytes) k;
END
$$;

-- As `post` (0001/deliver.sql), on terms (`judged`), whose verdicts are the answer. Where room is scarce senders take turns.
CREATE FUNCTION triarch.post_on_terms(slot text, call bigint, ids text[], controls boolean[], messages text[], fits text[],
  letters bigint[], bytes bigint[], unsaid_letters bigint[], unsaid_bytes bigint[], such text[], as_of bigint[])
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
    FROM triarch.judged(ids, messages, fits, letters, bytes, unsaid_letters, unsaid_bytes, such, as_of) j;
    IF scarce IS NOT NULL THEN
      FOR i IN 1 .. cardinality(scarce) LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended('triarch.mailbox', scarce[i]));
      END LOOP;
      -- What others wrote meanwhile counts, and is seen by a statement that begins now.
      SELECT array_agg(j.verdict ORDER BY j.ord) INTO verdicts
      FROM triarch.judged(ids, messages, fits, letters, bytes, unsaid_letters, unsaid_bytes, such, as_of) j;
    END IF;
    owners := triarch.deliver(
      (SELECT coalesce(array_agg(v.key ORDER BY v.ord), '{}') FROM unnest(verdicts) WITH ORDINALITY AS v (key, ord) WHERE v.key > 0),
      (SELECT coalesce(array_agg(v.control ORDER BY v.ord), '{}')
        FROM unnest(verdicts, controls) WITH ORDINALITY AS v (key, control, ord) WHERE v.key > 0),
      (SELECT coalesce(array_agg(v.message ORDER BY v.ord), '{}')
        FROM unnest(verdicts, messages) WITH ORDINALITY AS v (key, message, ord) WHERE v.key > 0));
    answer := array_to_string(verdicts, ',');
    PERFORM triarch.keep(slot, call, answer);
  END IF;
  RETURN NEXT;
END
$$;
