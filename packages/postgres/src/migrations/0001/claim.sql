-- Claims: schedulers become the owners of ready tasks.

-- Reads what a rebuild needs from the record after `after` on: record 1, and those from base_seq on, up to the one that reaches a bound.
CREATE FUNCTION triarch.page_of(of_task bigint, after bigint, most_records bigint, most_bytes bigint)
RETURNS TABLE (seq bigint, at bigint, events text)
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
  SELECT p.seq::bigint, p.at, p.events FROM (
    SELECT r.*, sum(octet_length(r.events)) OVER (ORDER BY r.seq) - octet_length(r.events) AS before FROM (
      SELECT h.* FROM triarch.history h WHERE h.task = of_task AND h.seq = 1 AND after < 1
      UNION ALL (SELECT h.* FROM triarch.history h WHERE h.task = of_task AND h.seq > greatest(after, 1)
        AND h.seq >= (SELECT t.base_seq FROM triarch.tasks t WHERE t.key = of_task) ORDER BY h.seq LIMIT most_records)) r) p
  WHERE p.before < most_bytes ORDER BY p.seq
$$;

-- Releases at most `size` of the node's tasks, as orphaned; a null `size` is no bound. Tasks that other transactions
-- hold are skipped, unless `held` names the tasks that the node knows it owns: then all others are released, and waited
-- for. Bitmap scans are off so that the tasks become ready in the order of their keys, not of their places in the
-- table.
CREATE FUNCTION triarch.release_tasks(node text, size bigint, held text[]) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
SET enable_bitmapscan = off AS $$
#variable_conflict use_column
DECLARE
  taken bigint[];
BEGIN
  IF held IS NULL THEN
    SELECT array_agg(o.key) INTO taken
    FROM (SELECT t.key FROM triarch.tasks t WHERE t.locked_by = node ORDER BY t.key LIMIT size FOR UPDATE SKIP LOCKED) o;
  ELSE
    SELECT array_agg(o.key) INTO taken
    FROM (SELECT t.key FROM triarch.tasks t WHERE t.locked_by = node AND t.id <> ALL (held)
      ORDER BY t.key LIMIT size FOR UPDATE) o;
  END IF;
  UPDATE triarch.tasks t SET locked_by = NULL, orphaned = true, wake_at = NULL, ready = true,
    control = EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.task = t.key AND i.control)
  WHERE t.key = ANY (taken);
  UPDATE triarch.inbox i SET owner = NULL WHERE i.task = ANY (taken);
  RETURN coalesce(cardinality(taken), 0);
END
$$;

-- Claims ready tasks, as many as fit the bounds of the answer and at least one: the highest priority first, then what
-- became ready first, of the queue of each workflow version and of the control queue. Rows that another claim, a
-- delivery or a sweep holds are skipped and left to the next claim. Tasks under suspicion are claimed on probation
-- only, apart from others: up to `trials` tasks during whose probation no owner has died, or one of the rest, the
-- fewest strikes first. The tasks in `except_keys` are left to others.
-- `ageing_ms`: how long a task must wait to gain one level of priority; 0: waiting gains none. Within one priority no
-- task counts as waiting longer than those before it, so a claim goes from priority to priority of each workflow
-- version, and takes the best of their heads; the 100 highest priorities take part.
-- Returns for each task a row with seq 0 that describes it, rows with seq -1 for its messages (`at`: their ids), and its records.
CREATE FUNCTION triarch.take_many(
  slot text, call bigint, given_now bigint, node text, workflows text[], versions text[], size bigint, held text[],
  most_records bigint, most_bytes bigint, most_letters bigint, letter_bytes bigint, trials bigint,
  ageing_ms bigint, except_keys bigint[]
) RETURNS TABLE (key bigint, seq bigint, at bigint, text text)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  answer text;
  chosen bigint[];
  taken bigint[];
  orphans bigint[];
  trying boolean := false;
  records_left bigint := most_records;
  bytes_left bigint := most_bytes;
  entry record;
  more boolean := false;
  unread bigint[];
  letters bigint[];
  last bigint;
  rest bigint;
  woken boolean;
  suspected boolean;
  -- Whether there are messages, and whether one task is too large for an answer; true until it is known, as for a call that was sent again.
  lettered boolean := true;
  large boolean := true;
BEGIN
  -- After a claim whose answer was lost for good, what the node does not know it owns is free again. No owner died of it.
  IF held IS NOT NULL THEN
    UPDATE triarch.tasks t SET on_trial = false WHERE t.locked_by = node AND t.on_trial AND t.id <> ALL (held);
    PERFORM triarch.release_tasks(node, NULL, held);
  END IF;
  answer := triarch.answered(slot, call);
  SELECT EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.wake_at <= now), EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.ready AND t.suspicion >= 2)
  INTO woken, suspected;

  IF answer IS NOT NULL THEN
    orphans := string_to_array(split_part(answer, ';', 2), ',')::bigint[];
    trying := split_part(answer, ';', 3) = 'trial';
    more := split_part(answer, ';', 4) = 'more';
    SELECT array_agg(t.key) INTO taken FROM triarch.tasks t
    WHERE t.key = ANY (string_to_array(split_part(answer, ';', 1), ',')::bigint[]) AND t.locked_by = node;
  ELSE
    -- The tasks that one claim wakes are bounded, in case many are due at the same instant. They stand in line in the order of their instants.
    IF woken THEN
      WITH due AS MATERIALIZED (
        SELECT s.key, s.wake_at FROM triarch.tasks s WHERE s.wake_at <= now ORDER BY s.wake_at, s.key
        LIMIT greatest(size, 1000) FOR UPDATE SKIP LOCKED
      ), line AS MATERIALIZED (
        SELECT d.key, nextval('triarch.tasks_key_seq'::regclass) AS place FROM (SELECT d.key FROM due d ORDER BY d.wake_at, d.key) d
      )
      UPDATE triarch.tasks t SET ready = true, wake_at = NULL, readied = l.place FROM line l WHERE t.key = l.key;
    END IF;
    IF trials > 0 AND (suspected OR woken) THEN
      SELECT CASE WHEN min(s.strikes) > 0 THEN (array_agg(s.key ORDER BY s.strikes, s.place))[1:1]
        ELSE array_agg(s.key ORDER BY s.place) FILTER (WHERE s.strikes = 0) END INTO chosen
      FROM (SELECT s.key, s.strikes + (s.on_trial AND s.orphaned)::integer AS strikes, coalesce(s.readied, s.key) AS place
        FROM triarch.tasks s
        WHERE s.ready AND s.suspicion >= 2 AND s.key <> ALL (except_keys)
          AND (s.control OR EXISTS (SELECT 1 FROM unnest(workflows, versions) AS w (workflow, version)
            WHERE w.workflow = s.workflow AND w.version = s.version))
        ORDER BY s.strikes + (s.on_trial AND s.orphaned)::integer, coalesce(s.readied, s.key)
        LIMIT least(size, trials) FOR UPDATE SKIP LOCKED) s;
      trying := chosen IS NOT NULL;
    END IF;
    IF NOT trying AND ageing_ms > 0 THEN
      WITH RECURSIVE levels AS (
        SELECT w.workflow, w.version, h.priority, 1 AS n FROM unnest(workflows, versions) AS w (workflow, version),
          LATERAL (SELECT t.priority FROM triarch.tasks t WHERE t.ready AND t.workflow = w.workflow AND t.version = w.version
            ORDER BY t.priority DESC LIMIT 1) h
        UNION ALL
        SELECT l.workflow, l.version, h.priority, l.n + 1 FROM levels l,
          LATERAL (SELECT t.priority FROM triarch.tasks t WHERE t.ready AND t.workflow = l.workflow AND t.version = l.version
            AND t.priority < l.priority ORDER BY t.priority DESC LIMIT 1) h
        WHERE l.n < 100
      ), best AS MATERIALIZED (
        SELECT r.key, r.place, r.priority * ageing_ms
          - max(r.since) OVER (PARTITION BY l.workflow, l.version, l.priority ORDER BY r.place, r.key) AS rank
        FROM levels l,
          LATERAL (SELECT t.key, t.priority, coalesce(t.readied, t.key) AS place, t.updated_at AS since FROM triarch.tasks t
            WHERE t.ready AND t.workflow = l.workflow AND t.version = l.version AND t.priority = l.priority
              AND t.suspicion < 2 AND t.key <> ALL (except_keys)
            ORDER BY t.priority DESC, coalesce(t.readied, t.key) LIMIT size FOR UPDATE SKIP LOCKED) r
        UNION ALL
        SELECT c.key, c.place, c.priority * ageing_ms - c.since FROM (
          SELECT t.key, t.priority, coalesce(t.readied, t.key) AS place, t.updated_at AS since FROM triarch.tasks t
          WHERE t.control AND t.suspicion < 2 AND t.key <> ALL (except_keys)
          ORDER BY t.priority DESC, coalesce(t.readied, t.key) LIMIT size FOR UPDATE SKIP LOCKED) c
      ), each AS (
        SELECT b.key, max(b.rank) AS rank, min(b.place) AS place FROM best b GROUP BY b.key
        ORDER BY max(b.rank) DESC, min(b.place) LIMIT size
      )
      SELECT array_agg(e.key ORDER BY e.rank DESC, e.place) INTO chosen FROM each e;
    ELSIF NOT trying THEN
      WITH best AS MATERIALIZED (
        SELECT r.key, r.priority, r.place FROM unnest(workflows) WITH ORDINALITY AS w (workflow, n),
          LATERAL (SELECT t.key, t.priority, coalesce(t.readied, t.key) AS place FROM triarch.tasks t
            WHERE t.ready AND t.workflow = w.workflow AND t.version = versions[w.n] AND t.suspicion < 2 AND t.key <> ALL (except_keys)
            ORDER BY t.priority DESC, coalesce(t.readied, t.key) LIMIT size FOR UPDATE SKIP LOCKED) r
        UNION
        SELECT c.key, c.priority, c.place FROM (
          SELECT t.key, t.priority, coalesce(t.readied, t.key) AS place FROM triarch.tasks t
          WHERE t.control AND t.suspicion < 2 AND t.key <> ALL (except_keys)
          ORDER BY t.priority DESC, coalesce(t.readied, t.key) LIMIT size FOR UPDATE SKIP LOCKED) c
      )
      SELECT array_agg(b.key ORDER BY b.priority DESC, b.place) INTO chosen
      FROM (SELECT b.* FROM best b ORDER BY b.priority DESC, b.place LIMIT size) b;
    END IF;
    -- A call that finds nothing writes nothing, not even its number: nothing is lost with its answer.
    IF chosen IS NULL THEN RETURN; END IF;
    -- The length of a text is stored before it: what is too large is not read for this.
    FOR entry IN
      SELECT b.key, t.orphaned, s.records, s.bytes FROM unnest(chosen) AS b (key),
        LATERAL (SELECT t.orphaned, t.base_seq FROM triarch.tasks t WHERE t.key = b.key LIMIT 1) t,
        LATERAL (SELECT count(*) AS records, coalesce(sum(f.size), 0) AS bytes FROM (
          SELECT octet_length(h.events) AS size FROM triarch.history h WHERE h.task = b.key AND h.seq = 1
          UNION ALL SELECT octet_length(h.events) FROM triarch.history h WHERE h.task = b.key AND h.seq > 1 AND h.seq >= t.base_seq
          LIMIT most_records + 1) f) s
    LOOP
      more := taken IS NOT NULL AND (entry.records > records_left OR entry.bytes > bytes_left);
      EXIT WHEN more;
      taken := taken || entry.key;
      records_left := records_left - entry.records;
      bytes_left := bytes_left - entry.bytes;
      IF entry.orphaned THEN orphans := orphans || entry.key; END IF;
    END LOOP;
    more := more OR cardinality(taken) = size;
    large := records_left < 0 OR bytes_left < 0;
    IF orphans IS NULL AND NOT trying THEN
      UPDATE triarch.tasks t SET locked_by = node, epoch = t.epoch + 1, ready = false, control = false, wake_at = NULL,
        suspicion = 0, on_trial = false
      WHERE t.key = ANY (taken);
    ELSE
      UPDATE triarch.tasks t SET locked_by = node, epoch = t.epoch + 1, ready = false, control = false,
        orphaned = false, wake_at = NULL,
        suspicion = CASE
          WHEN trying THEN t.suspicion + 1
          WHEN NOT t.orphaned THEN 0
          WHEN t.claimed_seq = (SELECT max(h.seq) FROM triarch.history h WHERE h.task = t.key) THEN t.suspicion + 1
          ELSE 1 END,
        claimed_seq = CASE WHEN t.orphaned OR trying
          THEN (SELECT max(h.seq) FROM triarch.history h WHERE h.task = t.key) ELSE t.claimed_seq END,
        strikes = t.strikes + (t.on_trial AND t.orphaned)::integer,
        on_trial = trying
      WHERE t.key = ANY (taken);
    END IF;
    UPDATE triarch.inbox i SET owner = node WHERE i.task = ANY (taken);
    lettered := FOUND;
    PERFORM triarch.keep(slot, call, concat(array_to_string(taken, ','), ';', array_to_string(orphans, ','), ';',
      CASE WHEN trying THEN 'trial' END, ';', CASE WHEN more THEN 'more' END));
  END IF;

  -- The first messages of each task.
  IF lettered THEN
    SELECT array_agg(l.id) FILTER (WHERE l.fits), array_agg(DISTINCT l.task) FILTER (WHERE NOT l.fits) INTO letters, unread
    FROM (
      SELECT i.id, i.task, row_number() OVER own <= most_letters
        AND sum(octet_length(i.message)) OVER own - octet_length(i.message) < letter_bytes
        AND sum(octet_length(i.message)) OVER (ORDER BY i.task, i.id) - octet_length(i.message) < most_bytes AS fits
      FROM triarch.inbox i WHERE i.task = ANY (taken) WINDOW own AS (PARTITION BY i.task ORDER BY i.id)) l;
  END IF;
  -- A task that is too large for an answer comes alone: its first page, and how much there is in all.
  IF large AND cardinality(taken) = 1 THEN
    SELECT max(p.seq) INTO last FROM triarch.page_of(taken[1], 0, most_records, most_bytes) p;
    IF EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = taken[1] AND h.seq > last) THEN
      SELECT sum(octet_length(h.events)) INTO rest FROM triarch.tasks t JOIN triarch.history h
        ON h.task = t.key AND (h.seq = 1 OR h.seq >= t.base_seq) WHERE t.key = taken[1];
    END IF;
  END IF;

  RETURN QUERY SELECT t.key, 0::bigint, 0::bigint, json_build_object(
    'id', t.id, 'workflow', t.workflow, 'version', t.version, 'epoch', t.epoch,
    'orphaned', coalesce(t.key = ANY (orphans), false),
    'work', coalesce((SELECT json_agg(json_build_object('step', w.step, 'operation', w.operation,
      'attempt', w.attempt) ORDER BY w.id) FROM triarch.work w WHERE w.task = t.key), '[]'),
    'rest', rest, 'unread', coalesce(t.key = ANY (unread), false), 'more', more,
    'strikes', CASE WHEN trying THEN t.strikes END)::text
  FROM triarch.tasks t WHERE t.key = ANY (taken) ORDER BY t.priority DESC, coalesce(t.readied, t.key);
  IF letters IS NOT NULL THEN
    RETURN QUERY SELECT i.task, -1::bigint, i.id, i.message FROM triarch.inbox i
    WHERE i.task = ANY (taken) AND i.id = ANY (letters) ORDER BY i.task, i.id;
  END IF;
  IF large AND cardinality(taken) = 1 THEN
    RETURN QUERY SELECT taken[1], p.seq, p.at, p.events FROM triarch.page_of(taken[1], 0, most_records, most_bytes) p;
  ELSE
    RETURN QUERY SELECT h.task, h.seq::bigint, h.at, h.events
    FROM triarch.tasks t, LATERAL (
      SELECT f.* FROM triarch.history f WHERE f.task = t.key AND f.seq = 1
      UNION ALL SELECT f.* FROM triarch.history f WHERE f.task = t.key AND f.seq >= t.base_seq AND f.seq > 1) h
    WHERE t.key = ANY (taken) ORDER BY h.task, h.seq;
  END IF;
END
$$;

-- Claims tasks. In a quiet store a claim usually finds one new task, which needs few statements; `take_many` handles everything else.
CREATE FUNCTION triarch.take_tasks(
  slot text, call bigint, given_now bigint, node text, workflows text[], versions text[], size bigint, held text[],
  most_records bigint, most_bytes bigint, most_letters bigint, letter_bytes bigint, trials bigint,
  ageing_ms bigint, except_keys bigint[]
) RETURNS TABLE (key bigint, seq bigint, at bigint, text text)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint;
  others boolean;
  found_keys bigint;
  one bigint;
  called text;
  of_workflow text;
  of_version text;
BEGIN
  IF held IS NULL AND triarch.answered(slot, call) IS NULL THEN
    now := triarch.clock(given_now);
    others := EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.wake_at <= now) OR EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.control)
      OR EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.ready AND t.suspicion >= 2);
    -- Two are enough to know that there are several.
    SELECT count(*), min(c.key) INTO found_keys, one FROM (
      SELECT r.key FROM unnest(workflows) WITH ORDINALITY AS w (workflow, n),
        LATERAL (SELECT t.key FROM triarch.tasks t
          WHERE t.ready AND t.workflow = w.workflow AND t.version = versions[w.n] AND t.suspicion < 2 AND t.key <> ALL (except_keys)
          ORDER BY t.priority DESC, coalesce(t.readied, t.key) LIMIT 2 FOR UPDATE SKIP LOCKED) r
      WHERE NOT others LIMIT 2) c;
    -- A call that finds nothing writes nothing, not even its number: nothing is lost with its answer.
    IF found_keys = 0 AND NOT others THEN RETURN; END IF;
    -- Its row is locked: no message is delivered before it has an owner.
    IF found_keys = 1 AND NOT EXISTS (SELECT 1 FROM triarch.inbox i WHERE i.task = one)
      AND NOT EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = one AND h.seq > 1)
    THEN
      UPDATE triarch.tasks t SET locked_by = node, epoch = 1, ready = false, control = false, wake_at = NULL, suspicion = 0, on_trial = false
      WHERE t.key = one AND t.epoch = 0 AND NOT t.orphaned
      RETURNING t.id, t.workflow, t.version INTO called, of_workflow, of_version;
      IF FOUND THEN
        PERFORM triarch.keep(slot, call, concat(one, ';;;', CASE WHEN size = 1 THEN 'more' END));
        key := one;
        seq := 0;
        at := 0;
        text := json_build_object('id', called, 'workflow', of_workflow, 'version', of_version, 'epoch', 1, 'orphaned', false,
          'work', json '[]', 'rest', NULL, 'unread', false, 'more', size = 1, 'strikes', NULL);
        RETURN NEXT;
        RETURN QUERY SELECT h.task, h.seq::bigint, h.at, h.events FROM triarch.history h WHERE h.task = one AND h.seq = 1;
        RETURN;
      END IF;
    END IF;
  END IF;
  RETURN QUERY SELECT t.* FROM triarch.take_many(slot, call, given_now, node, workflows, versions, size, held, most_records, most_bytes,
    most_letters, letter_bytes, trials, ageing_ms, except_keys) t;
END
$$;
