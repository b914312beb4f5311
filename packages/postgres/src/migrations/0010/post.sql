-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As `post` (0001/deliver.sql), on terms. Answers for each the key of its task, or 0: there is none, -1: its state takes no
-- such message, -2: there is no room for it. `fits`: states separated by spaces, null: whatever it does. `letters`, `bytes`:
-- the most that may be unread. `full_if`, `full_unless`: texts in the task's own letter that says that it is full.
CREATE FUNCTION triarch.post_on_terms(slot text, call bigint, ids text[], controls boolean[], messages text[], fits text[],
  letters bigint[], bytes bigint[], full_if text[], full_unless text[])
RETURNS TABLE (answer text, owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_variable
DECLARE
  verdicts bigint[];
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NULL THEN
    SELECT array_agg(CASE
        WHEN t.key IS NULL THEN 0
        WHEN strpos(' ' || p.fits || ' ', concat(' ', t.status, CASE t.status WHEN 'stopped' THEN '/' || t.result END, ' ')) = 0
          THEN -1
        WHEN u.letters >= p.letters OR (u.letters > 0 AND u.bytes + octet_length(p.message) > p.bytes) THEN -2
        WHEN EXISTS (SELECT 1 FROM triarch.inbox i
          WHERE p.full_if IS NOT NULL AND i.task = t.key AND octet_length(i.message) < 65536
            AND starts_with(i.message, '{"type":"full"') AND strpos(i.message, p.full_if) > 0
            AND (p.full_unless IS NULL OR strpos(i.message, p.full_unless) = 0)) THEN -2
        ELSE t.key END ORDER BY p.ord) INTO verdicts
    FROM unnest(ids, messages, fits, letters, bytes, full_if, full_unless) WITH ORDINALITY
      AS p (id, message, fits, letters, bytes, full_if, full_unless, ord)
    LEFT JOIN triarch.tasks t ON t.id = p.id
    LEFT JOIN LATERAL (SELECT count(*) AS letters, coalesce(sum(octet_length(i.message)), 0) AS bytes
      FROM triarch.inbox i WHERE p.letters IS NOT NULL AND i.task = t.key) u ON true;
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
