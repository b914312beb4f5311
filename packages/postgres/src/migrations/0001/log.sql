-- Log lines of steps and workflows. No row of a task is touched or locked: transactions that write lines and those that
-- commit never wait for each other.
CREATE TABLE triarch.logs (
  task  bigint PRIMARY KEY,
  seq   bigint NOT NULL,  -- the number of the last line
  bytes bigint NOT NULL,  -- of all lines ever written
  shed  bigint NOT NULL,  -- how many lines were deleted to make room
  run   bigint NOT NULL,  -- the run of the workflow's code that logged last, and the number of its last line
  mark  bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE triarch.log_lines (
  task      bigint NOT NULL,
  seq       bigint NOT NULL,
  bytes     bigint NOT NULL,  -- of all lines up to this one
  source    text COLLATE "C",
  n         bigint NOT NULL,
  at        bigint NOT NULL,
  level     integer NOT NULL,
  step      bigint NOT NULL,
  operation text COLLATE "C",
  attempt   bigint,
  node      text COLLATE "C",
  line      text NOT NULL,
  PRIMARY KEY (task, seq)
);
CREATE UNIQUE INDEX log_lines_said ON triarch.log_lines (task, source, n) WHERE source IS NOT NULL;

-- The lines of a task are deleted with it.
CREATE FUNCTION triarch.drop_logs() RETURNS trigger
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  DELETE FROM triarch.log_lines l USING gone g WHERE l.task = g.key;
  DELETE FROM triarch.logs h USING gone g WHERE h.task = g.key;
  RETURN NULL;
END
$$;
CREATE TRIGGER tasks_logged AFTER DELETE ON triarch.tasks REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION triarch.drop_logs();

-- Writes lines. Each comes from one of the writers: an attempt (`sources`), or the code of the workflow (null), which
-- repeats its lines when it is replayed.
CREATE FUNCTION triarch.write_logs(
  ids text[], sources text[], runs bigint[], steps bigint[], operations text[], attempts bigint[], nodes text[],
  writers bigint[], ns bigint[], ats bigint[], levels bigint[], lines text[], most bigint, most_bytes bigint, cost bigint
) RETURNS void
LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
DECLARE
  one record;
  head triarch.logs;
  stays bigint;
  gone bigint;
BEGIN
  -- In the order of the tasks, so that no two writers wait for each other.
  FOR one IN
    SELECT t.key, array_agg(w.ord) AS writers FROM unnest(ids) WITH ORDINALITY AS w (id, ord)
    JOIN triarch.tasks t ON t.id = w.id GROUP BY t.key ORDER BY t.key
  LOOP
    INSERT INTO triarch.logs (task, seq, bytes, shed, run, mark) VALUES (one.key, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM triarch.logs h WHERE h.task = one.key FOR UPDATE;
    WITH given AS (
      SELECT l.*, sources[l.writer] AS source, runs[l.writer] AS run,
        head.seq + row_number() OVER (ORDER BY l.ord) AS seq,
        head.bytes + sum(cost + length(l.line)) OVER (ORDER BY l.ord) AS bytes
      FROM unnest(writers, ns, ats, levels, lines) WITH ORDINALITY AS l (writer, n, at, level, line, ord)
      WHERE l.writer = ANY (one.writers) AND CASE WHEN sources[l.writer] IS NULL
        THEN (runs[l.writer], l.n) > (head.run, head.mark)
        ELSE NOT EXISTS (SELECT 1 FROM triarch.log_lines k
          WHERE k.task = one.key AND k.source = sources[l.writer] AND k.n = l.n) END
    ), kept AS (
      INSERT INTO triarch.log_lines AS k (task, seq, bytes, source, n, at, level, step, operation, attempt, node, line)
      SELECT one.key, g.seq, g.bytes, g.source, g.n, g.at, g.level, steps[g.writer], operations[g.writer],
        attempts[g.writer], nodes[g.writer], g.line FROM given g
      ON CONFLICT DO NOTHING RETURNING k.seq, k.bytes
    ), code AS (
      SELECT g.run, g.n FROM given g WHERE g.source IS NULL ORDER BY g.run DESC, g.n DESC LIMIT 1
    )
    UPDATE triarch.logs h SET seq = (SELECT max(k.seq) FROM kept k), bytes = (SELECT max(k.bytes) FROM kept k),
      run = coalesce((SELECT c.run FROM code c), h.run), mark = coalesce((SELECT c.n FROM code c), h.mark)
    WHERE h.task = one.key AND EXISTS (SELECT 1 FROM kept)
    RETURNING h.* INTO head;
    CONTINUE WHEN NOT FOUND;
    SELECT k.seq INTO stays FROM triarch.log_lines k
      WHERE k.task = one.key AND k.seq > head.seq - most AND k.bytes > head.bytes - most_bytes ORDER BY k.seq LIMIT 1;
    DELETE FROM triarch.log_lines k WHERE k.task = one.key AND k.seq < stays;
    GET DIAGNOSTICS gone = ROW_COUNT;
    IF gone > 0 THEN UPDATE triarch.logs h SET shed = h.shed + gone WHERE h.task = one.key; END IF;
  END LOOP;
END
$$;
