-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- Locks. Of one name at most one claim is held, and none waits while none is held; only tasks that are there and have not
-- stopped have claims. Each grant has a fencing number, higher than all before it. Who waits for whom is searched line by line:
-- of those before a claim only such matter as may wait for something else too (`tied`), for all others wait for the same holder.
ALTER TABLE triarch.locks ADD COLUMN fence bigint;                          -- of the grant, while it is held
ALTER TABLE triarch.locks ADD COLUMN tied boolean NOT NULL DEFAULT false;   -- its task may wait for something besides this lock
CREATE INDEX locks_tied ON triarch.locks (name, priority DESC, id) WHERE tied AND NOT held;
CREATE INDEX locks_replacing ON triarch.locks (name, id) WHERE if_held = 'replace' AND NOT held;
CREATE INDEX followers_task ON triarch.followers (task);
CREATE SEQUENCE triarch.lock_fence;

-- Tasks that wait for the end of a task whose claim waits in line. The last in line has the highest rank (its priority below
-- zero) and claim.
CREATE TABLE triarch.lock_parents (
  parent bigint NOT NULL,
  name   text COLLATE "C" NOT NULL,
  rank   integer NOT NULL,
  claim  bigint NOT NULL,
  PRIMARY KEY (parent, name, rank, claim)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lock_parents_claim ON triarch.lock_parents (claim);

-- The claim up to which the last sweep looked; none: it looked at all.
CREATE TABLE triarch.lock_sweep (claim bigint NOT NULL);

-- The first in line that lives has it now. Answers the owners of those that were told, as deliver does; null: nobody waits.
CREATE FUNCTION triarch.pass_lock(of_name text, at bigint) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  first record;
  number bigint;
BEGIN
  LOOP
    SELECT l.id, l.task, l.step, t.status INTO first FROM triarch.locks l LEFT JOIN triarch.tasks t ON t.key = l.task
    WHERE l.name = of_name AND NOT l.held ORDER BY l.priority DESC, l.id LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
    DELETE FROM triarch.lock_parents p WHERE p.claim = first.id;
    IF first.status IS NULL OR first.status = 'stopped' THEN
      DELETE FROM triarch.locks l WHERE l.id = first.id;
      CONTINUE;
    END IF;
    number := nextval('triarch.lock_fence'::regclass);
    UPDATE triarch.locks l SET held = true, since = pass_lock.at, fence = number WHERE l.id = first.id;
    RETURN triarch.deliver(ARRAY[first.task], ARRAY[false], ARRAY[json_build_object('type', 'lock', 'step', first.step,
      'name', of_name, 'outcome', 'granted', 'fence', number)::text]);
  END LOOP;
END
$$;

-- Takes back claims of a task (one, or all when the step is null) and gives what was held to the next in line. Answers the
-- owners of those that were told, as deliver does.
CREATE OR REPLACE FUNCTION triarch.unlock(of_task bigint, of_step integer, at bigint) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  freed record;
  owners text[];
BEGIN
  PERFORM triarch.lock_names(array_agg(l.name)) FROM triarch.locks l
  WHERE l.task = of_task AND (of_step IS NULL OR l.step = of_step) HAVING count(*) > 0;
  FOR freed IN
    DELETE FROM triarch.locks l WHERE l.task = of_task AND (of_step IS NULL OR l.step = of_step)
    RETURNING l.id, l.name, l.held
  LOOP
    IF freed.held THEN
      owners := owners || triarch.pass_lock(freed.name, at);
    ELSE
      DELETE FROM triarch.lock_parents p WHERE p.claim = freed.id;
    END IF;
  END LOOP;
  RETURN owners;
END
$$;

-- The task that has the lock, by its id; one that has stopped or is gone has it no longer. Under the name's advisory lock.
-- A caller's transaction with one snapshot for all its statements may not see who has it, or see one that has it no more: the
-- row of the one it sees is locked, which fails (40001) when it is another by now, as it fails to insert a second holder.
CREATE FUNCTION triarch.lock_holder(of_name text, at bigint, OUT task bigint, OUT id text, OUT owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  holder record;
BEGIN
  LOOP
    SELECT l.id AS claim, l.task, t.id, t.status INTO holder
    FROM triarch.locks l LEFT JOIN triarch.tasks t ON t.key = l.task WHERE l.name = of_name AND l.held;
    IF NOT FOUND THEN RETURN; END IF;
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      PERFORM 1 FROM triarch.locks l WHERE l.id = holder.claim FOR UPDATE;
    END IF;
    IF holder.status IS NOT NULL AND holder.status <> 'stopped' THEN
      task := holder.task;
      id := holder.id;
      RETURN;
    END IF;
    DELETE FROM triarch.locks l WHERE l.id = holder.claim;
    owners := owners || triarch.pass_lock(of_name, at);
  END LOOP;
END
$$;

-- Whether this waiting claim of the task makes it wait for itself, or for a task that waits for its end: the key of the one it
-- would wait for. At most a thousand tasks and lines are looked at; what takes more is taken for no circle: a timeout, or a later
-- sweep, may know.
CREATE FUNCTION triarch.circle_of(of_task bigint, of_claim bigint) RETURNS bigint
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  most CONSTANT integer := 1000;
  ends bigint[] := of_task || ARRAY(SELECT DISTINCT p.parent FROM triarch.lock_parents p WHERE p.claim = of_claim);
  seen bigint[] := ARRAY[of_task];
  names text[] := '{}';
  priorities integer[] := '{}';
  claims bigint[] := '{}';
  one integer := 1;
  place record;
  ahead bigint;
  known integer;
BEGIN
  WHILE one <= cardinality(seen) LOOP
    FOR place IN
      SELECT w.name, w.priority, w.id FROM triarch.locks w WHERE w.task = seen[one] AND NOT w.held
      UNION ALL
      -- For each name that children of the task wait for, the last of them in line; from one name to the next.
      (WITH RECURSIVE waited (name, priority, id) AS (
        (SELECT p.name, -p.rank, p.claim FROM triarch.lock_parents p WHERE p.parent = seen[one]
          ORDER BY p.name DESC, p.rank DESC, p.claim DESC LIMIT 1)
        UNION ALL
        SELECT l.* FROM waited w, LATERAL (SELECT p.name, -p.rank, p.claim FROM triarch.lock_parents p
          WHERE p.parent = seen[one] AND p.name < w.name ORDER BY p.name DESC, p.rank DESC, p.claim DESC LIMIT 1) l)
      SELECT w.name, w.priority, w.id FROM waited w LIMIT 1000)
    LOOP
      known := array_position(names, place.name);
      -- Looked at already, from this place or from one further back.
      CONTINUE WHEN priorities[known] < place.priority OR (priorities[known] = place.priority AND claims[known] >= place.id);
      known := coalesce(known, cardinality(names) + 1);
      names[known] := place.name;
      priorities[known] := place.priority;
      claims[known] := place.id;
      FOR ahead IN
        SELECT h.task FROM triarch.locks h WHERE h.name = place.name AND h.held
        UNION ALL
        (SELECT b.task FROM triarch.locks b WHERE b.name = place.name AND b.tied AND NOT b.held
          AND (b.priority > place.priority OR (b.priority = place.priority AND b.id < place.id))
        ORDER BY b.priority DESC, b.id LIMIT 1000)
      LOOP
        IF ahead = ANY (ends) THEN RETURN ahead; END IF;
        IF ahead <> ALL (seen) THEN seen := seen || ahead; END IF;
      END LOOP;
      IF cardinality(seen) + cardinality(names) > most THEN RETURN NULL; END IF;
    END LOOP;
    one := one + 1;
  END LOOP;
  RETURN NULL;
END
$$;

-- Takes a waiting claim back that its task would wait for itself by, and tells it. Null: it may wait.
CREATE FUNCTION triarch.refuse_circle(of_claim bigint) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  mine record;
  circle_end bigint;
  near json;
BEGIN
  SELECT l.* INTO mine FROM triarch.locks l WHERE l.id = of_claim AND NOT l.held;
  IF NOT FOUND THEN RETURN NULL; END IF;
  circle_end := triarch.circle_of(mine.task, of_claim);
  IF circle_end IS NULL THEN RETURN NULL; END IF;
  SELECT json_agg(n.id ORDER BY n.id) INTO near FROM (
    SELECT DISTINCT b.id FROM (
      SELECT t.id FROM triarch.locks l JOIN triarch.tasks t ON t.key = l.task
      WHERE l.name = mine.name AND l.id <> mine.id
        AND (l.held OR l.priority > mine.priority OR (l.priority = mine.priority AND l.id < mine.id))
      ORDER BY l.held DESC, l.priority DESC, l.id LIMIT 10) b) n;
  DELETE FROM triarch.locks l WHERE l.id = mine.id;
  DELETE FROM triarch.lock_parents p WHERE p.claim = mine.id;
  RETURN triarch.deliver(ARRAY[mine.task], ARRAY[false], ARRAY[json_strip_nulls(json_build_object('type', 'lock',
    'step', mine.step, 'name', mine.name, 'outcome', 'deadlock', 'by', near, 'parent',
    (SELECT t.id FROM triarch.tasks t WHERE t.key = circle_end AND t.key <> mine.task)))::text]) || NULL::text;
END
$$;

-- One claim of a task. Its answer is a letter: granted, held (reject), deadlock; none while it waits. `parents`: tasks that wait
-- for the end of this one.
CREATE FUNCTION triarch.ask(of_task bigint, of_step integer, of_name text, of_if_held text, at bigint, parents text[])
RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  holder record;
  mine record;
  number bigint;
  owners text[];
  told text[];
  above bigint[] := '{}';
  others boolean;
  waits boolean;
BEGIN
  -- What has stopped asks for nothing.
  PERFORM 1 FROM triarch.tasks t WHERE t.key = of_task AND t.status <> 'stopped';
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM triarch.lock_names(ARRAY[of_name]);
  SELECT h.* INTO holder FROM triarch.lock_holder(of_name, at) h;
  owners := holder.owners;
  IF holder.id IS NOT NULL AND of_if_held = 'reject' THEN
    RETURN owners || triarch.deliver(ARRAY[of_task], ARRAY[false], ARRAY[json_build_object('type', 'lock', 'step', of_step,
      'name', of_name, 'outcome', 'held', 'by', json_build_array(holder.id))::text]);
  END IF;
  PERFORM 1 FROM triarch.locks l WHERE l.task = of_task AND l.step = of_step;
  IF FOUND THEN RETURN owners; END IF;
  IF holder.id IS NULL THEN
    number := nextval('triarch.lock_fence'::regclass);
    -- A holder that the caller's snapshot does not show is in the way all the same (40001).
    INSERT INTO triarch.locks (name, task, step, priority, if_held, held, since, fence)
    SELECT of_name, t.key, of_step, t.priority, of_if_held, true, ask.at, number FROM triarch.tasks t WHERE t.key = of_task
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'lock % was taken meanwhile', of_name USING ERRCODE = 'serialization_failure';
    END IF;
  ELSE
    INSERT INTO triarch.locks (name, task, step, priority, if_held, held, since)
    SELECT of_name, t.key, of_step, t.priority, of_if_held, false, ask.at FROM triarch.tasks t WHERE t.key = of_task
    RETURNING id, priority INTO mine;
  END IF;
  UPDATE triarch.tasks t SET gated = true WHERE t.key = of_task AND NOT t.gated;
  IF holder.id IS NULL THEN
    RETURN owners || triarch.deliver(ARRAY[of_task], ARRAY[false], ARRAY[json_build_object('type', 'lock', 'step', of_step,
      'name', of_name, 'outcome', 'granted', 'fence', number)::text]);
  END IF;
  -- Who waits for more than this lock: its task, if it waits for others or for children, and those that wait for its task.
  IF parents IS NOT NULL THEN
    WITH waiting AS (
      INSERT INTO triarch.lock_parents (parent, name, rank, claim)
      SELECT t.key, of_name, -mine.priority, mine.id FROM triarch.tasks t WHERE t.id = ANY (parents) AND t.status <> 'stopped'
      ON CONFLICT DO NOTHING RETURNING parent)
    SELECT coalesce(array_agg(w.parent), '{}') INTO above FROM waiting w;
    UPDATE triarch.locks l SET tied = true WHERE l.task = ANY (above) AND NOT l.held AND NOT l.tied;
  END IF;
  SELECT count(*) > 0, coalesce(bool_or(NOT l.held), false) INTO others, waits
  FROM triarch.locks l WHERE l.task = of_task AND l.id <> mine.id;
  IF EXISTS (SELECT 1 FROM triarch.lock_parents p WHERE p.parent = of_task) THEN
    others := true;
    waits := true;
  END IF;
  IF waits THEN
    UPDATE triarch.locks l SET tied = true WHERE l.task = of_task AND NOT l.held AND NOT l.tied;
  END IF;
  -- For a task that has nothing but this claim, and no parent that waits, nobody can wait.
  IF others OR above <> '{}' THEN
    told := triarch.refuse_circle(mine.id);
    IF told IS NOT NULL THEN RETURN owners || told; END IF;
  END IF;
  IF of_if_held = 'replace' THEN
    owners := owners || triarch.replace_holders(of_task, of_name, holder.task);
  END IF;
  RETURN owners;
END
$$;

-- The same as older versions call it.
CREATE OR REPLACE FUNCTION triarch.ask(of_task bigint, of_step integer, of_name text, of_if_held text, at bigint)
RETURNS text[] LANGUAGE sql AS $$ SELECT triarch.ask(of_task, of_step, of_name, of_if_held, at, NULL::text[]) $$;

-- The holder is asked to go, and who waits to replace it; these once, for they do go.
CREATE FUNCTION triarch.replace_holders(of_task bigint, of_name text, holder bigint) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  tasks bigint[];
BEGIN
  WITH superseded AS (
    UPDATE triarch.locks l SET if_held = 'queue'
    WHERE l.name = of_name AND l.task <> of_task AND NOT l.held AND l.if_held = 'replace' RETURNING l.id, l.task)
  SELECT holder || array_agg(s.task ORDER BY s.id) INTO tasks FROM superseded s;
  -- A caller's snapshot may show another owner than the task has by now: this fails then (40001).
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM 1 FROM triarch.tasks t WHERE t.key = ANY (tasks) ORDER BY t.key FOR NO KEY UPDATE;
  END IF;
  RETURN triarch.deliver(tasks, array_fill(true, ARRAY[cardinality(tasks)]), array_fill(json_build_object(
    'type', 'cancel', 'force', false, 'compensate', NULL,
    'reason', 'replaced by another task that wants lock "' || of_name || '"')::text, ARRAY[cardinality(tasks)]));
END
$$;

-- Tells the task when the other has stopped; at once when it has, or when nobody knows it. The antecedent's row is locked,
-- so that it cannot stop unseen meanwhile.
CREATE OR REPLACE FUNCTION triarch.follow(of_task bigint, antecedent text) RETURNS text[]
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
  found_task record;
BEGIN
  SELECT t.key, t.status, t.result INTO found_task FROM triarch.tasks t WHERE t.id = antecedent FOR NO KEY UPDATE;
  IF found_task.key IS NULL AND current_setting('transaction_isolation') <> 'read committed' THEN
    -- It may be there, only younger than the caller's snapshot: then its id cannot be had (40001).
    BEGIN
      INSERT INTO triarch.tasks (id, workflow, version, priority, status, result, failures, epoch, ready, control, orphaned,
        base_seq, submitted_at, updated_at) VALUES (antecedent, '', '', 0, 'stopped', '', 0, 0, false, false, false, 0, 0, 0);
      RAISE EXCEPTION USING ERRCODE = 'TA000';
    EXCEPTION
      WHEN unique_violation THEN
        RAISE EXCEPTION 'task % was made meanwhile', antecedent USING ERRCODE = 'serialization_failure';
      WHEN SQLSTATE 'TA000' THEN NULL;
    END;
  END IF;
  IF found_task.status <> 'stopped' THEN
    UPDATE triarch.tasks t SET gated = true WHERE t.key = found_task.key AND NOT t.gated;
    INSERT INTO triarch.followers (antecedent, task) VALUES (antecedent, of_task) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END IF;
  RETURN triarch.deliver(ARRAY[of_task], ARRAY[false], ARRAY[json_build_object('type', 'antecedent', 'task', antecedent,
    'result', found_task.result)::text]);
END
$$;

-- A task that had claims is dropped: nothing of it stays in any line.
CREATE FUNCTION triarch.dropped() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  PERFORM triarch.unlock(OLD.key, NULL, OLD.updated_at);
  DELETE FROM triarch.followers f WHERE f.task = OLD.key;
  RETURN NULL;
END
$$;
CREATE TRIGGER tasks_dropped AFTER DELETE ON triarch.tasks FOR EACH ROW WHEN (OLD.gated) EXECUTE FUNCTION triarch.dropped();

-- A task that was made in this transaction asks for its locks. Who is not to wait and would have to was never made: answers
-- the holder then, and the lock.
CREATE FUNCTION triarch.open_gate(of_task bigint, operation json, OUT refused text, OUT wanted text, OUT owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  one json;
  holder record;
  at bigint := (operation ->> 'at')::bigint;
BEGIN
  PERFORM triarch.lock_names(array_agg(l ->> 'name')) FROM json_array_elements(operation -> 'locks') l HAVING count(*) > 0;
  FOR one IN SELECT l FROM json_array_elements(operation -> 'locks') l WHERE l ->> 'ifHeld' = 'reject' LOOP
    SELECT h.* INTO holder FROM triarch.lock_holder(one ->> 'name', at) h;
    owners := owners || holder.owners;
    CONTINUE WHEN holder.id IS NULL;
    refused := holder.id;
    wanted := one ->> 'name';
    DELETE FROM triarch.tags g WHERE g.task = of_task;
    DELETE FROM triarch.history h WHERE h.task = of_task;
    DELETE FROM triarch.tasks t WHERE t.key = of_task;
    RETURN;
  END LOOP;
  UPDATE triarch.tasks t SET ready = false WHERE t.key = of_task;
  FOR one IN SELECT a FROM json_array_elements(operation -> 'after') a LOOP
    -- Gated, so that it is taken out of the line it stands in when it is dropped.
    UPDATE triarch.tasks t SET gated = true WHERE t.key = of_task AND NOT t.gated;
    owners := owners || triarch.follow(of_task, one #>> '{}');
  END LOOP;
  FOR one IN SELECT l FROM json_array_elements(operation -> 'locks') l LOOP
    owners := owners || triarch.ask(of_task, (one ->> 'step')::integer, one ->> 'name', one ->> 'ifHeld', at,
      (SELECT array_agg(p) FROM json_array_elements_text(one -> 'parents') p));
  END LOOP;
END
$$;

-- What comes after a commit or a submission, in the same statement: `answer` is theirs, keys by position. `fresh` is false
-- when they were sent again and had taken effect before: then so had this.
CREATE OR REPLACE FUNCTION triarch.gate(fresh boolean, answer text, operations text, OUT refused text, OUT owners text[])
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  keys bigint[] := string_to_array(answer, ',')::bigint[];
  one json;
  key bigint;
  child bigint;
  made record;
  refusals jsonb := '{}';
BEGIN
  IF NOT fresh THEN RETURN; END IF;
  FOR one IN SELECT o FROM json_array_elements(operations::json) o LOOP
    key := keys[(one ->> 'of')::integer];
    CONTINUE WHEN key <= 0;
    CASE one ->> 'op'
      WHEN 'lock' THEN
        owners := owners || triarch.ask(key, (one ->> 'step')::integer, one ->> 'name', one ->> 'ifHeld',
          (one ->> 'at')::bigint, (SELECT array_agg(p) FROM json_array_elements_text(one -> 'parents') p));
      WHEN 'unlock' THEN
        owners := owners || triarch.unlock(key, (one ->> 'step')::integer, (one ->> 'at')::bigint);
      ELSE
        child := key;
        IF one ->> 'parent' IS NOT NULL THEN
          -- Only the one that was just made, which nobody has claimed and nothing has touched; any other keeps what it has.
          SELECT t.key INTO child FROM triarch.tasks t
          WHERE t.id = one ->> 'id' AND t.parent = one ->> 'parent' AND t.submitted_at = (one ->> 'at')::bigint
            AND t.epoch = 0 AND NOT t.gated;
          CONTINUE WHEN child IS NULL;
        END IF;
        SELECT * INTO made FROM triarch.open_gate(child, one);
        owners := owners || made.owners;
        CONTINUE WHEN made.refused IS NULL;
        IF one ->> 'parent' IS NULL THEN
          refusals := refusals || jsonb_build_object(one ->> 'of', made.refused);
        ELSE
          owners := owners || triarch.deliver(ARRAY[key], ARRAY[false], ARRAY[json_build_object('type', 'child',
            'step', (one ->> 'step')::integer, 'result', 'error', 'refused', json_build_object('child', one ->> 'id',
              'code', 'LOCK_HELD', 'lock', made.wanted, 'by', made.refused),
            -- For owners of an older version.
            'error', json_build_object('name', 'TriarchError', 'code', 'LOCK_HELD',
              'message', 'lock "' || made.wanted || '" is held by task "' || made.refused || '"',
              'details', json_build_object('lock', made.wanted, 'by', json_build_array(made.refused))))::text]);
        END IF;
    END CASE;
  END LOOP;
  IF refusals <> '{}' THEN refused := refusals::text; END IF;
END
$$;

-- Looks at the next claims, as many as `size`: those of tasks that have stopped or are gone are given back, a name that is free
-- while somebody waits is given to him, and who waits in a circle that nobody saw is told. Whether that wrote letters. Names
-- and tasks that somebody else has in hand are passed by.
CREATE FUNCTION triarch.sweep_locks(given_now bigint, size bigint) RETURNS boolean
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off SET lock_timeout = '50ms' AS $$
#variable_conflict use_column
DECLARE
  at bigint := triarch.clock(given_now);
  start bigint;
  reached bigint := 0;
  looked bigint := 0;
  one record;
  told boolean := false;
BEGIN
  SELECT coalesce(max(s.claim), 0) INTO start FROM triarch.lock_sweep s;
  FOR one IN
    SELECT l.id, l.name, l.task, l.step, l.held, coalesce(t.status, 'stopped') = 'stopped' AS dead
    FROM triarch.locks l LEFT JOIN triarch.tasks t ON t.key = l.task WHERE l.id > start ORDER BY l.id LIMIT size
  LOOP
    reached := one.id;
    looked := looked + 1;
    CONTINUE WHEN one.held AND NOT one.dead;
    CONTINUE WHEN NOT pg_try_advisory_xact_lock(hashtextextended('triarch.' || one.name, 7431));
    -- What somebody's transaction holds is for a later sweep.
    BEGIN
      IF one.dead THEN
        -- Looked at again, now that nobody else can.
        IF NOT EXISTS (SELECT 1 FROM triarch.tasks t WHERE t.key = one.task AND t.status <> 'stopped') THEN
          PERFORM triarch.unlock(one.task, one.step, at);
          told := true;
        END IF;
      ELSIF NOT EXISTS (SELECT 1 FROM triarch.locks l WHERE l.id = one.id AND NOT l.held) THEN
        CONTINUE;
      ELSIF (SELECT h.id FROM triarch.lock_holder(one.name, at) h) IS NULL THEN
        told := triarch.pass_lock(one.name, at) IS NOT NULL OR told;
      ELSE
        told := triarch.refuse_circle(one.id) IS NOT NULL OR told;
      END IF;
    EXCEPTION WHEN lock_not_available THEN NULL;
    END;
  END LOOP;
  IF looked < size THEN reached := 0; END IF;
  IF reached <> start THEN
    DELETE FROM triarch.lock_sweep;
    INSERT INTO triarch.lock_sweep SELECT reached WHERE reached > 0;
  END IF;
  RETURN told;
END
$$;
