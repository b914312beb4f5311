-- The clock of the store: the server's, unless the caller passes an instant, as tests on virtual time do. It is rounded
-- down, so that nothing is due early.
CREATE FUNCTION triarch.clock(given bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(given, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

-- When a connection breaks, its client cannot know whether the call that was under way took effect. So each call that
-- changes something carries its slot (a connection of a process) and a number that rises, and its answer is stored with
-- its effect, in one transaction. If the call is sent again under the same number, it gets the stored answer.
-- Each call has a row of its own, which is never updated: a snapshot that is kept open, such as that of a backup, keeps
-- every version of a rewritten row, and each call would walk all of them.
CREATE TABLE triarch.calls (
  slot   text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  answer text,
  at     bigint NOT NULL,
  PRIMARY KEY (slot, number)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
-- A sweep deletes the rows of slots that are gone.
CREATE INDEX calls_at ON triarch.calls (at);

-- Returns the stored answer of the call; null: it is new. Calls under one slot take turns, because the second may be
-- the first, sent again. A call that comes after one with a later number is refused.
CREATE FUNCTION triarch.answered(slot text, call bigint) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
  locked text;
  number bigint;
  answer text;
BEGIN
  IF slot IS NULL THEN RETURN NULL; END IF;
  -- An expression, not a query: it is not planned and run as one.
  locked := pg_advisory_xact_lock(hashtextextended(slot, 7432))::text;
  SELECT c.number, c.answer INTO number, answer FROM triarch.calls c
  WHERE c.slot = answered.slot AND c.number >= call ORDER BY c.slot, c.number LIMIT 1;
  IF number IS NULL OR number = call THEN RETURN answer; END IF;
  RAISE EXCEPTION 'call % of a slot that is at % already', call, number USING ERRCODE = '25000';
END
$$;

-- Stores the answer of a call.
CREATE FUNCTION triarch.keep(slot text, call bigint, answer text) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
  -- A slot deletes its old calls this many numbers at a time, and keeps as many.
  span CONSTANT bigint := 64;
BEGIN
  -- A call that found nothing to take (take_work, take_tasks) changed nothing, and its number is used again: the numbers of calls that are
  -- kept have no gaps.
  IF slot IS NULL OR answer IN ('', ';;;') THEN RETURN; END IF;
  INSERT INTO triarch.calls (slot, number, answer, at) VALUES (slot, call, answer, triarch.clock(NULL));
  IF call % span = 0 THEN
    DELETE FROM triarch.calls c
    WHERE c.slot = keep.slot AND c.number > call - 2 * span AND c.number <= call - span;
  END IF;
END
$$;
