CREATE TABLE triarch.schedules (
  name       text COLLATE "C" PRIMARY KEY,
  revision   bigint NOT NULL,
  definition text NOT NULL,
  state      text NOT NULL,
  next_at    bigint
) WITH (fillfactor = 50);
CREATE INDEX schedules_due ON triarch.schedules (next_at) WHERE next_at IS NOT NULL;

-- Writes a schedule with the tasks it starts. Writes nothing if the row has another revision (null: there is none yet),
-- or the token is no longer the leader's. The lease is locked meanwhile, as by a sweep. Returns the keys of the tasks.
CREATE FUNCTION triarch.write_schedule(
  slot text, call bigint, given_now bigint, name text, expected bigint, definition text, state text, next_at bigint,
  lease text, token bigint,
  ids text[], workflows text[], versions text[], priorities bigint[], statuses text[], ats bigint[], starts bigint[],
  deadlines bigint[], parents text[], tags text[], events text[], gates text
) RETURNS TABLE (answer text, owners text[], refused text)
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  opened record;
BEGIN
  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    refused := nullif(split_part(answer, ';', 2), '');
    answer := split_part(answer, ';', 1);
    RETURN NEXT;
    RETURN;
  END IF;
  IF lease IS NOT NULL THEN
    PERFORM 1 FROM triarch.leases l
    WHERE l.name = write_schedule.lease AND l.token = write_schedule.token AND l.until > now FOR SHARE;
    IF NOT FOUND THEN answer := 'no'; END IF;
  END IF;
  IF answer IS NULL THEN
    IF expected IS NULL THEN
      INSERT INTO triarch.schedules (name, revision, definition, state, next_at)
      VALUES (write_schedule.name, 1, write_schedule.definition, write_schedule.state, write_schedule.next_at)
      ON CONFLICT DO NOTHING;
    ELSE
      UPDATE triarch.schedules s SET revision = s.revision + 1, definition = write_schedule.definition,
        state = write_schedule.state, next_at = write_schedule.next_at
      WHERE s.name = write_schedule.name AND s.revision = expected;
    END IF;
    IF NOT FOUND THEN answer := 'no'; END IF;
  END IF;
  IF answer IS NULL THEN
    answer := '';
    IF cardinality(ids) > 0 THEN
      answer := array_to_string(triarch.insert_tasks(ids, workflows, versions, priorities, statuses, ats, starts,
        deadlines, parents, tags, events), ',', '0');
      IF gates IS NOT NULL THEN
        SELECT * INTO opened FROM triarch.gate(true, answer, gates);
        owners := opened.owners;
        refused := opened.refused;
      END IF;
    END IF;
  END IF;
  PERFORM triarch.keep(slot, call, concat(answer, ';', refused));
  RETURN NEXT;
END
$$;
