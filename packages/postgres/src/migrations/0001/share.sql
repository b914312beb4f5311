-- Fair queueing: callers or tenants share the queues of agents and of ready tasks. It is start-time fair queueing
-- (Goyal, Vin and Cheng 1996): an entry starts, in virtual time, where the previous one of the same share ends, 1 /
-- weight after that one's start, and not before the present, which is the start of the next entry to be taken. Virtual
-- time counts entries, from the number of the first. No transaction waits for another here: while another transaction
-- writes to a share, its changes are not visible, and two entries get the same start.

-- The start of the next entry of each share that has, or lately had, entries in a queue. A row is rewritten with each entry.
CREATE TABLE triarch.shares (
  queue    text COLLATE "C" NOT NULL,
  priority integer NOT NULL,
  share    text COLLATE "C" NOT NULL,
  next     double precision NOT NULL,
  PRIMARY KEY (queue, priority, share)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX shares_next ON triarch.shares (queue, priority, next);

-- Returns the place in the queue of a task that becomes ready.
CREATE FUNCTION triarch.place_of(task triarch.tasks) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  line text := concat('task ', task.workflow, '@', task.version);
  own text := task.share::json ->> 'key';
  span double precision := 1 / (task.share::json ->> 'weight')::double precision;
  head double precision;
  present double precision;
  place double precision;
BEGIN
  SELECT coalesce(t.readied, t.key) INTO head FROM triarch.tasks t
  WHERE t.ready AND t.workflow = task.workflow AND t.version = task.version AND t.priority = task.priority AND t.key <> task.key
  ORDER BY coalesce(t.readied, t.key) LIMIT 1;
  present := coalesce(head, nextval('triarch.tasks_key_seq'::regclass));
  -- With nobody waiting, no share owes anything to another: all rows go. Otherwise those go whose next entry would begin no later than a new one's.
  DELETE FROM triarch.shares s WHERE s.ctid = ANY (ARRAY(
    SELECT o.ctid FROM triarch.shares o WHERE o.queue = line AND o.priority = task.priority AND (head IS NULL OR o.next <= present)
    ORDER BY o.next LIMIT CASE WHEN head IS NULL THEN NULL ELSE 2 END FOR UPDATE SKIP LOCKED));
  place := greatest(present, (SELECT s.next FROM triarch.shares s
    WHERE s.queue = line AND s.priority = task.priority AND s.share = own));
  IF pg_try_advisory_xact_lock(hashtextextended(concat('triarch.shares ', line, ' ', task.priority, ' ', own), 0)) THEN
    INSERT INTO triarch.shares AS s (queue, priority, share, next) VALUES (line, task.priority, own, place + span)
    ON CONFLICT (queue, priority, share) DO UPDATE SET next = excluded.next;
  END IF;
  RETURN floor(place + 0.000001);
END
$$;

-- The share of a new task comes as the first of its tags, which are otherwise texts, so that every function that
-- creates tasks passes it on.
CREATE FUNCTION triarch.share_task() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  parts text[] := regexp_match(NEW.tags, '^\{"~share":(\{"key":"(?:[^"\\]|\\.)*","weight":[0-9.e-]+\}),?(.*)$');
BEGIN
  NEW.share := parts[1];
  NEW.tags := nullif('{' || parts[2], '{}');
  IF NEW.ready THEN NEW.readied := triarch.place_of(NEW); END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER tasks_shared BEFORE INSERT ON triarch.tasks FOR EACH ROW
WHEN (starts_with(NEW.tags, '{"~share":{')) EXECUTE FUNCTION triarch.share_task();

-- A task that becomes ready goes to the end of its queue, unless the statement gives it a place; one in quarantine does not become ready.
CREATE FUNCTION triarch.readied() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.quarantined THEN
    NEW.ready := false;
    NEW.control := false;
  ELSIF NEW.share IS NOT NULL THEN
    NEW.readied := triarch.place_of(NEW);
  ELSIF NEW.readied IS NOT DISTINCT FROM OLD.readied THEN
    NEW.readied := nextval('triarch.tasks_key_seq'::regclass);
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER tasks_readied BEFORE UPDATE OF ready ON triarch.tasks FOR EACH ROW
WHEN (NEW.ready AND NOT OLD.ready) EXECUTE FUNCTION triarch.readied();

-- Stores where the next entry of the remembered share begins (`look_up_place`), and clears the settings that remember it.
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

-- Returns the place of a request in its queue. It is looked up once for consecutive requests of one share that one
-- statement queues: where the next one begins is then known, and is stored at the end (`keep_place`). Otherwise each of
-- them would search for the head of its queue, past all rows that were lately taken from it and are not vacuumed yet.
-- What is known is kept in settings of the transaction: `triarch_place.line` (queue and priority; empty: nothing is
-- known), `.share` (the beginning of the request, up to the end of its share), `.next` (where the next one begins) and
-- `.span` (how far the one after it is).
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
  -- With nobody waiting, no share owes anything to another: all rows go. Otherwise those go whose next entry would begin no later than a new one's.
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

CREATE FUNCTION triarch.place_in() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER work_placed BEFORE INSERT ON triarch.work FOR EACH ROW
WHEN (NEW.request LIKE '{"share":{%') EXECUTE FUNCTION triarch.place_in();

CREATE FUNCTION triarch.placed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM triarch.keep_place();
  RETURN NULL;
END
$$;
-- For a statement that queues nothing with a share it costs one read of a setting.
CREATE TRIGGER work_kept AFTER INSERT ON triarch.work FOR EACH STATEMENT
WHEN (current_setting('triarch_place.line', true) <> '') EXECUTE FUNCTION triarch.placed();
