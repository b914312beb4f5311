-- The clock of the store: the server's, unless the caller brings an instant (tests on virtual time do). Rounded down, so
-- that nothing is due early.
CREATE FUNCTION triarch.clock(given bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(given, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

-- When a connection breaks, its client cannot know whether the call that was under way took effect. So each call that
-- changes something carries its slot and a number that rises; the answer is kept with the effect, in one transaction.
-- Sent again under the same number, it gets the answer of the first time. The row lock makes the second wait while the
-- first is still under way in a server process that has not yet noticed; one that comes after a later number is refused.
CREATE FUNCTION triarch.answered(slot text, call bigint) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  last record;
BEGIN
  IF slot IS NULL THEN RETURN NULL; END IF;
  SELECT c.number, c.answer INTO last FROM triarch.calls c WHERE c.slot = answered.slot FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    INSERT INTO triarch.calls AS c (slot, number, at) VALUES (slot, 0, triarch.clock(NULL)) ON CONFLICT DO NOTHING;
    SELECT c.number, c.answer INTO last FROM triarch.calls c WHERE c.slot = answered.slot FOR NO KEY UPDATE;
  END IF;
  IF last.number = call THEN RETURN last.answer; END IF;
  IF last.number > call THEN
    RAISE EXCEPTION 'call % of a slot that is at % already', call, last.number USING ERRCODE = '25000';
  END IF;
  RETURN NULL;
END
$$;

CREATE FUNCTION triarch.keep(slot text, call bigint, answer text) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  IF slot IS NULL THEN RETURN; END IF;
  UPDATE triarch.calls c SET number = call, answer = keep.answer, at = triarch.clock(NULL) WHERE c.slot = keep.slot;
END
$$;
