-- Statistics: tallies by hour, and how far each task's history is counted.
CREATE TABLE triarch.statistics (
  hour     bigint NOT NULL,
  kind     text COLLATE "C" NOT NULL,
  workflow text COLLATE "C" NOT NULL,
  agent    text COLLATE "C" NOT NULL,
  action   text COLLATE "C" NOT NULL,
  outcome  text COLLATE "C" NOT NULL,
  error    text COLLATE "C" NOT NULL,
  tag      text COLLATE "C" NOT NULL,
  bucket   bigint NOT NULL,
  count    bigint NOT NULL,
  ms       bigint NOT NULL,
  PRIMARY KEY (hour, kind, workflow, agent, action, outcome, error, tag, bucket)
);

CREATE TABLE triarch.followed (
  task  bigint PRIMARY KEY,
  seq   bigint NOT NULL DEFAULT 0,       -- the last record that is counted
  done  boolean NOT NULL DEFAULT false,  -- the task has stopped, and all its records are counted
  state text
);
CREATE INDEX followed_open ON triarch.followed (task) WHERE NOT done;

-- One row, once something was counted. All tasks up to the key `settled` are followed. Those up to `highest` are once
-- the transactions of `holders` have ended: keys are drawn in another order than that of commits, but a transaction
-- that draws one has a lock on the table, which lasts as long as the transaction.
CREATE TABLE triarch.counting (
  one     boolean PRIMARY KEY CHECK (one),
  settled bigint NOT NULL DEFAULT 0,
  highest bigint NOT NULL DEFAULT 0,
  holders text[] NOT NULL DEFAULT '{}',
  as_of   bigint,
  anew    boolean NOT NULL DEFAULT false,  -- everything is to be counted anew: the tallies are dropped bit by bit
  since   bigint,                          -- when that was last requested
  goal    bigint                           -- the highest key of a task at that time
);

-- Returns the transactions, other than this one, that may have drawn keys of tasks.
CREATE FUNCTION triarch.task_writers() RETURNS text[] LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(array_agg(DISTINCT l.virtualtransaction), '{}') FROM pg_locks l
  WHERE l.locktype = 'relation' AND l.relation = 'triarch.tasks'::regclass AND l.mode = 'RowExclusiveLock' AND l.granted
    AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
    AND l.pid IS DISTINCT FROM pg_backend_pid()
$$;

-- Follows all tasks that were committed before; returns true if there were too many for one call. Each statement sees
-- what is committed when it begins: the search sees the tasks of all transactions that had ended before it, and the
-- highest key is read before the transactions that may still commit lower ones.
CREATE FUNCTION triarch.discover_tasks(size bigint) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
  known triarch.counting;
  ended boolean;
  found_count bigint;
  top bigint;
  writers text[];
BEGIN
  SELECT * INTO known FROM triarch.counting c FOR UPDATE;
  IF NOT FOUND THEN INSERT INTO triarch.counting (one) VALUES (true) RETURNING * INTO known; END IF;
  ended := NOT (known.holders && triarch.task_writers());
  INSERT INTO triarch.followed (task)
  SELECT t.key FROM triarch.tasks t
  WHERE t.key > known.settled AND NOT EXISTS (SELECT 1 FROM triarch.followed f WHERE f.task = t.key) ORDER BY t.key LIMIT size
  ON CONFLICT DO NOTHING;
  GET DIAGNOSTICS found_count = ROW_COUNT;
  IF found_count >= size THEN RETURN true; END IF;
  IF ended THEN
    SELECT coalesce(max(t.key), 0) INTO top FROM triarch.tasks t;
    writers := triarch.task_writers();
    IF top > known.highest OR known.settled < known.highest OR writers <> known.holders THEN
      UPDATE triarch.counting c SET settled = greatest(known.settled, known.highest), highest = greatest(top, known.highest),
        holders = writers;
    END IF;
  END IF;
  RETURN false;
END
$$;

-- Returns the next tasks with records that are not counted, for the leader. `after`: the key to go on from, 0: from the
-- beginning, where new tasks are followed as well. `look`: how many rows to examine, `size`: how many tasks to return.
-- `audit`: the key from which to check again the rows of tasks that are done or gone.
CREATE FUNCTION triarch.follow_history(
  given_now bigint, name text, token bigint, after bigint, look bigint, size bigint, audit bigint
) RETURNS text
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  behind boolean := false;
  audited bigint := follow_history.audit;
  seen bigint;
  last bigint;
  looked bigint;
  page jsonb;
  ending bigint;
  gone bigint;
  shed bigint;
BEGIN
  PERFORM 1 FROM triarch.leases l WHERE l.name = follow_history.name AND l.token = follow_history.token AND l.until > now FOR SHARE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM 1 FROM triarch.counting c WHERE c.anew FOR UPDATE;
  IF FOUND THEN
    DELETE FROM triarch.followed f WHERE f.task IN (SELECT d.task FROM triarch.followed d ORDER BY d.task LIMIT follow_history.look);
    GET DIAGNOSTICS gone = ROW_COUNT;
    DELETE FROM triarch.statistics s WHERE s.ctid = ANY (ARRAY(SELECT d.ctid FROM triarch.statistics d LIMIT follow_history.look));
    GET DIAGNOSTICS shed = ROW_COUNT;
    IF gone < follow_history.look AND shed < follow_history.look THEN
      UPDATE triarch.counting c SET anew = false, settled = 0, highest = 0, holders = '{}', as_of = NULL;
    END IF;
    RETURN jsonb_build_object('at', now, 'tasks', '[]'::jsonb, 'audited', 0, 'behind', true, 'anew', true, 'next', NULL);
  END IF;
  IF follow_history.after = 0 THEN
    behind := triarch.discover_tasks(follow_history.look);
    SELECT count(*), coalesce(max(a.task), 0) INTO seen, audited FROM (
      SELECT f.task FROM triarch.followed f WHERE f.task > follow_history.audit ORDER BY f.task LIMIT follow_history.look) a;
    DELETE FROM triarch.followed f WHERE f.task > follow_history.audit AND f.task <= audited
      AND NOT EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.key = f.task);
    UPDATE triarch.followed f SET done = false WHERE f.task > follow_history.audit AND f.task <= audited AND f.done
      AND EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = f.task AND h.seq > f.seq);
    IF seen < follow_history.look THEN audited := 0; END IF;
  END IF;
  SELECT count(*), coalesce(max(o.task), follow_history.after) INTO looked, last FROM (
    SELECT f.task FROM triarch.followed f WHERE NOT f.done AND f.task > follow_history.after ORDER BY f.task LIMIT follow_history.look) o;
  SELECT coalesce(jsonb_agg(jsonb_build_object('key', p.task, 'id', p.id, 'seq', p.seq, 'state', p.state) ORDER BY p.task), '[]'),
    max(p.task)
  INTO page, ending FROM (
    SELECT f.task, t.id, f.seq, f.state FROM triarch.followed f JOIN triarch.tasks t ON t.key = f.task
    WHERE NOT f.done AND f.task > follow_history.after AND f.task <= last
      AND EXISTS (SELECT 1 FROM triarch.history h WHERE h.task = f.task AND h.seq > f.seq)
    ORDER BY f.task LIMIT follow_history.size) p;
  RETURN jsonb_build_object('at', now, 'tasks', page, 'audited', audited, 'behind', behind, 'next',
    CASE WHEN jsonb_array_length(page) = follow_history.size THEN ending WHEN looked = follow_history.look THEN last END);
END
$$;

-- Adds to the tallies, and moves the tasks on. Writes nothing and returns false if another node leads or has counted one of these records.
CREATE FUNCTION triarch.tally_history(
  given_now bigint, name text, token bigint, counted text, added text, as_of bigint, keep_from bigint, dropped bigint
) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
  now bigint := triarch.clock(given_now);
  fitting bigint;
  locked bigint;
BEGIN
  PERFORM 1 FROM triarch.leases l WHERE l.name = tally_history.name AND l.token = tally_history.token AND l.until > now FOR SHARE;
  IF NOT FOUND THEN RETURN false; END IF;
  -- The rows are locked first: one that somebody else counts meanwhile is at another record afterwards.
  SELECT count(*) INTO locked FROM (
    SELECT 1 FROM triarch.followed f WHERE (f.task, f.seq) IN (
      SELECT r.key, r."from" FROM jsonb_to_recordset(counted::jsonb) AS r (key bigint, "from" bigint))
    ORDER BY f.task FOR UPDATE) x;
  IF locked <> jsonb_array_length(counted::jsonb) THEN RETURN false; END IF;
  UPDATE triarch.followed f SET seq = r.seq, state = r.state, done = r.done
  FROM jsonb_to_recordset(counted::jsonb) AS r (key bigint, seq bigint, state text, done boolean) WHERE f.task = r.key;
  INSERT INTO triarch.statistics AS s (hour, kind, workflow, agent, action, outcome, error, tag, bucket, count, ms)
  SELECT a.hour, a.kind, a.workflow, a.agent, a.action, a.outcome, a.error, a.tag, a.bucket, a.count, a.ms
  FROM jsonb_to_recordset(added::jsonb) AS a (hour bigint, kind text, workflow text, agent text, action text, outcome text, error text,
    tag text, bucket bigint, count bigint, ms bigint)
  ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9
  ON CONFLICT (hour, kind, workflow, agent, action, outcome, error, tag, bucket)
  DO UPDATE SET count = s.count + excluded.count, ms = s.ms + excluded.ms;
  IF tally_history.as_of IS NOT NULL THEN
    INSERT INTO triarch.counting (one, as_of) VALUES (true, tally_history.as_of) ON CONFLICT (one) DO UPDATE SET as_of = excluded.as_of;
  END IF;
  DELETE FROM triarch.statistics s WHERE s.ctid = ANY (ARRAY(
    SELECT o.ctid FROM triarch.statistics o WHERE o.hour < keep_from ORDER BY o.hour LIMIT dropped));
  RETURN true;
END
$$;
