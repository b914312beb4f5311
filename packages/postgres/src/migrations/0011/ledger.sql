-- As before (0001/ledger.sql), but a row for each call, never changed, instead of one that is rewritten. A snapshot that somebody
-- keeps open, such as a backup's, keeps every version of a row that was rewritten, and each call walked all of them. Rows are found
-- by slot and number, and dropped by the slot itself, a range at a time: nobody walks over what is gone.
ALTER TABLE triarch.calls DROP CONSTRAINT calls_pkey;
ALTER TABLE triarch.calls ADD CONSTRAINT calls_pkey PRIMARY KEY (slot, number);
ALTER TABLE triarch.calls RESET (fillfactor);
-- For those whose slot is no more.
CREATE INDEX calls_at ON triarch.calls (at);

-- Two under one slot take turns: the second may be the first, sent again.
CREATE OR REPLACE FUNCTION triarch.answered(slot text, call bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
  last record;
BEGIN
  IF slot IS NULL THEN RETURN NULL; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended(slot, 7432));
  SELECT c.number, c.answer INTO last FROM triarch.calls c
  WHERE c.slot = answered.slot AND c.number >= call ORDER BY c.slot, c.number LIMIT 1;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF last.number = call THEN RETURN last.answer; END IF;
  RAISE EXCEPTION 'call % of a slot that is at % already', call, last.number USING ERRCODE = '25000';
END
$$;

CREATE OR REPLACE FUNCTION triarch.keep(slot text, call bigint, answer text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
  -- A slot drops its old calls by so many numbers at once, and keeps as many.
  span CONSTANT bigint := 64;
BEGIN
  -- Who found nothing to take (take_work, take_tasks) did nothing, and may use the number again. So it is, for those that are kept
  -- follow each other.
  IF slot IS NULL OR answer IN ('', ';;;') THEN RETURN; END IF;
  INSERT INTO triarch.calls (slot, number, answer, at) VALUES (slot, call, answer, triarch.clock(NULL));
  IF call % span = 0 THEN
    DELETE FROM triarch.calls c
    WHERE c.slot = keep.slot AND c.number > call - 2 * span AND c.number <= call - span;
  END IF;
END
$$;
