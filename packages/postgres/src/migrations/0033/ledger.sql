-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- What a call costs before its first row (docs/decisions/0125-the-fixed-cost-of-a-call.md). As before (0011/ledger.sql), but without a
-- statement for the lock.
CREATE OR REPLACE FUNCTION triarch.answered(slot text, call bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
  locked text;
  number bigint;
  answer text;
BEGIN
  IF slot IS NULL THEN RETURN NULL; END IF;
  -- An expression, and no query: it is not planned and run as one.
  locked := pg_advisory_xact_lock(hashtextextended(slot, 7432))::text;
  SELECT c.number, c.answer INTO number, answer FROM triarch.calls c
  WHERE c.slot = answered.slot AND c.number >= call ORDER BY c.slot, c.number LIMIT 1;
  IF number IS NULL OR number = call THEN RETURN answer; END IF;
  RAISE EXCEPTION 'call % of a slot that is at % already', call, number USING ERRCODE = '25000';
END
$$;
