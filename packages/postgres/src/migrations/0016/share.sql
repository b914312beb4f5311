-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Agents whose slots are shared (docs/decisions/0081-fair-queues.md): the place of a request is then not its number, but a virtual start.
ALTER TABLE triarch.work ADD COLUMN place double precision;
DROP INDEX triarch.work_queue;
CREATE INDEX work_line ON triarch.work (agent, priority DESC, (coalesce(place, id))) WHERE locked_by IS NULL;

-- Where the next request of each begins that has, or lately had, requests in the queue. A row is rewritten with each request.
CREATE TABLE triarch.shares (
  queue    text COLLATE "C" NOT NULL,
  priority integer NOT NULL,
  share    text COLLATE "C" NOT NULL,
  next     double precision NOT NULL,
  PRIMARY KEY (queue, priority, share)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX shares_next ON triarch.shares (queue, priority, next);

-- Start-time fair queueing (Goyal, Vin and Cheng 1996): a request starts, in virtual time, where the one before it of the same share
-- ends, 1 / weight after that one's start; and not before the present, which is the start of whoever is next. Virtual time counts in
-- requests, from the number of the first. Nobody waits here for another transaction: what is not known yet of a share that somebody else is
-- writing to makes two starts the same, and does no harm.
CREATE FUNCTION triarch.place_in() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  given json := NEW.request::json -> 'share';
  own text := given ->> 'key';
  head double precision;
  present double precision;
BEGIN
  SELECT coalesce(w.place, w.id) INTO head FROM triarch.work w
  WHERE w.agent = NEW.agent AND w.priority = NEW.priority AND w.locked_by IS NULL ORDER BY coalesce(w.place, w.id) LIMIT 1;
  present := coalesce(head, NEW.id);
  -- Nobody waits: whoever had more than others so far took it from nobody. Else those go who would not begin later than anybody new.
  DELETE FROM triarch.shares s WHERE s.ctid = ANY (ARRAY(
    SELECT o.ctid FROM triarch.shares o WHERE o.queue = NEW.agent AND o.priority = NEW.priority
      AND (head IS NULL OR o.next <= present)
    ORDER BY o.next LIMIT CASE WHEN head IS NULL THEN NULL ELSE 2 END FOR UPDATE SKIP LOCKED));
  NEW.place := greatest(present, (SELECT s.next FROM triarch.shares s
    WHERE s.queue = NEW.agent AND s.priority = NEW.priority AND s.share = own));
  IF pg_try_advisory_xact_lock(hashtextextended(concat('triarch.shares ', NEW.agent, ' ', NEW.priority, ' ', own), 0)) THEN
    INSERT INTO triarch.shares AS s (queue, priority, share, next)
    VALUES (NEW.agent, NEW.priority, own, NEW.place + 1 / (given ->> 'weight')::double precision)
    ON CONFLICT (queue, priority, share) DO UPDATE SET next = excluded.next;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER work_placed BEFORE INSERT ON triarch.work FOR EACH ROW
WHEN (NEW.request LIKE '{"share":{%') EXECUTE FUNCTION triarch.place_in();

-- Hands out step requests, the most urgent first, as many of each agent as it has
-- room for and only of actions it knows; fixes their complete-by.
CREATE OR REPLACE FUNCTION triarch.take_work(
  slot text, call bigint, given_now bigint, node text, agents text[], sizes bigint[], actions text[]
) RETURNS TABLE (id bigint, agent text, request text, complete_by bigint, heartbeat_within bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  answer text;
  taken bigint[];
BEGIN
  -- An idle look writes nothing, not even its number: nothing is lost when its answer is.
  IF NOT EXISTS (SELECT 1 FROM unnest(agents) AS a (agent)
      WHERE EXISTS (SELECT 1 FROM triarch.work w WHERE w.agent = a.agent AND w.locked_by IS NULL AND w.action = ANY (actions)))
    AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_work.slot AND c.number = take_work.call)
  THEN RETURN; END IF;

  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    taken := string_to_array(answer, ',')::bigint[];
  ELSE
    WITH best AS MATERIALIZED (
      SELECT w.place FROM unnest(agents, sizes) AS a (agent, size),
        LATERAL (SELECT q.ctid AS place FROM triarch.work q
          WHERE q.agent = a.agent AND q.locked_by IS NULL AND q.action = ANY (actions)
            AND (q.expires_at IS NULL OR q.expires_at > now)
          ORDER BY q.priority DESC, coalesce(q.place, q.id) LIMIT a.size FOR UPDATE SKIP LOCKED) w
    ), updated AS (
      UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
        complete_by = least(now + w.complete_within, w.expires_at)
      FROM best b WHERE w.ctid = b.place RETURNING w.id
    )
    SELECT array_agg(u.id) INTO taken FROM updated u;
    PERFORM triarch.keep(slot, call, coalesce(array_to_string(taken, ','), ''));
  END IF;
  RETURN QUERY SELECT w.id, w.agent, w.request, w.complete_by, w.heartbeat_within FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ANY (taken) ORDER BY w.priority DESC, coalesce(w.place, w.id), w.id;
END
$$;

-- As take_work, but undo and verify come first: what a breaker lets through while its service is tried.
CREATE OR REPLACE FUNCTION triarch.take_urgent(
  slot text, call bigint, given_now bigint, node text, agents text[], sizes bigint[], actions text[]
) RETURNS TABLE (id bigint, agent text, request text, complete_by bigint, heartbeat_within bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  answer text;
  taken bigint[];
BEGIN
  -- An idle look writes nothing, not even its number: nothing is lost when its answer is.
  IF NOT EXISTS (SELECT 1 FROM unnest(agents) AS a (agent)
      WHERE EXISTS (SELECT 1 FROM triarch.work w WHERE w.agent = a.agent AND w.locked_by IS NULL AND w.action = ANY (actions)))
    AND NOT EXISTS (SELECT 1 FROM triarch.calls c WHERE c.slot = take_urgent.slot AND c.number = take_urgent.call)
  THEN RETURN; END IF;

  answer := triarch.answered(slot, call);
  IF answer IS NOT NULL THEN
    taken := string_to_array(answer, ',')::bigint[];
  ELSE
    WITH best AS MATERIALIZED (
      SELECT w.place FROM unnest(agents, sizes) AS a (agent, size),
        LATERAL (SELECT q.ctid AS place FROM triarch.work q
          WHERE q.agent = a.agent AND q.locked_by IS NULL AND q.action = ANY (actions)
            AND (q.expires_at IS NULL OR q.expires_at > now)
          ORDER BY q.operation = 'run', q.priority DESC, coalesce(q.place, q.id) LIMIT a.size FOR UPDATE SKIP LOCKED) w
    ), updated AS (
      UPDATE triarch.work w SET locked_by = node, heartbeat_by = now + w.heartbeat_within,
        complete_by = least(now + w.complete_within, w.expires_at)
      FROM best b WHERE w.ctid = b.place RETURNING w.id
    )
    SELECT array_agg(u.id) INTO taken FROM updated u;
    PERFORM triarch.keep(slot, call, coalesce(array_to_string(taken, ','), ''));
  END IF;
  RETURN QUERY SELECT w.id, w.agent, w.request, w.complete_by, w.heartbeat_within FROM triarch.work w
    WHERE w.locked_by = node AND w.id = ANY (taken) ORDER BY w.priority DESC, coalesce(w.place, w.id), w.id;
END
$$;
