-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- The place of a request in a shared queue (0016), looked up once for those that one statement queues one after the other for one share: where
-- the next one begins is then known, and is written down at the end. Before, each of them looked for the head of its queue, past all that was
-- taken from it lately and is not vacuumed yet.
--
-- What is known, as settings of this transaction: `triarch_place.line` (queue and priority; empty: nothing is), `.share` (the beginning of the
-- request, up to the end of its share), `.next`, and `.span` to the one after it.
CREATE OR REPLACE FUNCTION triarch.place_in() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('triarch_place.line', true) = concat(NEW.priority, ' ', NEW.agent)
    AND starts_with(NEW.request, current_setting('triarch_place.share', true))
  THEN
    NEW.place := current_setting('triarch_place.next')::double precision;
    PERFORM set_config('triarch_place.next', (NEW.place + current_setting('triarch_place.span')::double precision)::text, true);
  ELSE
    PERFORM triarch.keep_place();
    NEW.place := triarch.look_up_place(NEW);
  END IF;
  RETURN NEW;
END
$$;

-- Start-time fair queueing, as in 0016. What is known of its share from now on is remembered.
CREATE FUNCTION triarch.look_up_place(added triarch.work) RETURNS double precision
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  given json := added.request::json -> 'share';
  span double precision := 1 / (given ->> 'weight')::double precision;
  head double precision;
  present double precision;
  place double precision;
BEGIN
  SELECT coalesce(w.place, w.id) INTO head FROM triarch.work w
  WHERE w.agent = added.agent AND w.priority = added.priority AND w.locked_by IS NULL ORDER BY coalesce(w.place, w.id) LIMIT 1;
  present := coalesce(head, added.id);
  -- Nobody waits: whoever had more than others so far took it from nobody. Else those go who would not begin later than anybody new.
  DELETE FROM triarch.shares s WHERE s.ctid = ANY (ARRAY(
    SELECT o.ctid FROM triarch.shares o WHERE o.queue = added.agent AND o.priority = added.priority
      AND (head IS NULL OR o.next <= present)
    ORDER BY o.next LIMIT CASE WHEN head IS NULL THEN NULL ELSE 2 END FOR UPDATE SKIP LOCKED));
  place := greatest(present, (SELECT s.next FROM triarch.shares s
    WHERE s.queue = added.agent AND s.priority = added.priority AND s.share = given ->> 'key'));
  PERFORM set_config('triarch_place.line', concat(added.priority, ' ', added.agent), true),
    set_config('triarch_place.share', concat('{"share":', given), true),
    set_config('triarch_place.span', span::text, true), set_config('triarch_place.next', (place + span)::text, true);
  RETURN place;
END
$$;

-- Writes down what is known, and forgets it. Nobody waits here for another transaction (0016).
CREATE FUNCTION triarch.keep_place() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  line text[] := regexp_match(current_setting('triarch_place.line', true), '^(\S+) (.*)$');
  own text;
BEGIN
  IF line IS NULL THEN RETURN; END IF;
  PERFORM set_config('triarch_place.line', '', true);
  own := (current_setting('triarch_place.share') || '}')::json -> 'share' ->> 'key';
  IF pg_try_advisory_xact_lock(hashtextextended(concat('triarch.shares ', line[2], ' ', line[1], ' ', own), 0)) THEN
    INSERT INTO triarch.shares AS s (queue, priority, share, next)
    VALUES (line[2], line[1]::integer, own, current_setting('triarch_place.next')::double precision)
    ON CONFLICT (queue, priority, share) DO UPDATE SET next = excluded.next;
  END IF;
END
$$;

CREATE FUNCTION triarch.placed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM triarch.keep_place();
  RETURN NULL;
END
$$;
-- Who shares nothing pays for one look at a setting.
CREATE TRIGGER work_kept AFTER INSERT ON triarch.work FOR EACH STATEMENT
WHEN (current_setting('triarch_place.line', true) <> '') EXECUTE FUNCTION triarch.placed();
