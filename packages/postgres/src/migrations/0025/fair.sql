-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Tenants share the line of ready tasks (docs/decisions/0087-fair-claims.md): start-time fair queueing, as in the queues of agents.
-- `share`: whose it is, and with which weight: JSON. Null: nobody asked.
ALTER TABLE triarch.tasks ADD COLUMN share text;

-- Where a task that becomes ready stands. Nobody waits here for another transaction: what is not known yet of a share that somebody else is
-- writing to makes two starts the same.
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
  -- Nobody waits: whoever had more than others so far took it from nobody. Else those go who would not begin later than anybody new.
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

-- The share comes as the first of the tags, which are texts all: so every function that makes tasks brings it, also an older one.
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

CREATE OR REPLACE FUNCTION triarch.insert_tags(keys bigint[], tags text[]) RETURNS void LANGUAGE sql VOLATILE AS $$
  INSERT INTO triarch.tags (name, value, task)
  SELECT tag.key, tag.value #>> '{}', g.key FROM unnest(keys, tags) AS g (key, tags),
    json_each(CASE WHEN g.tags ~* '(^|[^\\])(\\\\)*\\u(0000|d[89a-f])' THEN '{}' ELSE g.tags END::json) tag
  WHERE g.tags IS NOT NULL AND g.key > 0 AND json_typeof(tag.value) = 'string'
$$;

CREATE OR REPLACE FUNCTION triarch.readied() RETURNS trigger LANGUAGE plpgsql AS $$
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
