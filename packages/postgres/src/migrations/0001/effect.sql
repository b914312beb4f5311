-- Transactions of users' steps (transactions.ts).

-- The answers of such transactions, stored by the transactions themselves.
CREATE TABLE triarch.effects (
  task   bigint NOT NULL,
  step   integer NOT NULL,
  name   text COLLATE "C" NOT NULL,
  answer text NOT NULL,
  PRIMARY KEY (task, step, name)
);

-- Locks an effect until the end of the transaction, for transactions that may give it its answer and for those that ask
-- whether it has one, among those of one epoch; those of an older epoch are fenced. It fails instead of waiting for the
-- lock: the transaction of a lost connection may hold it for a while, and a waiting one would hold its own locks.
CREATE FUNCTION triarch.lock_effect(task bigint, epoch bigint, name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended(concat('triarch.effects ', task, ' ', epoch, ' ', name), 0)) THEN
    RAISE EXCEPTION 'another transaction for % is under way', name USING ERRCODE = 'lock_not_available';
  END IF;
END
$$;

-- Begins an effect in the user's transaction. No row: the task has another owner. `answer`: it was done before. A
-- transaction that was given up is one whose connection was cut: where the operating system can detect that, the server
-- also checks for it during a statement, so that its locks are free within a second.
CREATE FUNCTION triarch.begin_effect(task bigint, node text, epoch bigint, step bigint, name text)
RETURNS TABLE (answer text, transaction text)
LANGUAGE plpgsql SET jit = off AS $$
#variable_conflict use_variable
BEGIN
  BEGIN
    PERFORM set_config('client_connection_check_interval', '1s', true);
  EXCEPTION WHEN invalid_parameter_value THEN
    NULL;
  END;
  PERFORM triarch.lock_effect(task, epoch, name);
  PERFORM 1 FROM triarch.tasks t WHERE t.key = task AND t.epoch = begin_effect.epoch AND t.locked_by = node;
  IF NOT FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT (SELECT e.answer FROM triarch.effects e
    WHERE e.task = begin_effect.task AND e.step = begin_effect.step AND e.name = begin_effect.name),
    pg_current_xact_id()::text;
END
$$;

-- Stores the answer as the last statement of the transaction. A claim locks its task FOR UPDATE first, so none can
-- happen from here to the commit. Returns false if one has happened already. Steps of the task before `first_step` are
-- settled: their answers are no longer needed.
CREATE FUNCTION triarch.keep_effect(
  task bigint, node text, epoch bigint, step bigint, first_step bigint, name text, answer text, transaction text
) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_variable
BEGIN
  IF pg_current_xact_id()::text <> transaction THEN
    RAISE EXCEPTION 'the function ended its transaction' USING ERRCODE = 'invalid_transaction_termination';
  END IF;
  PERFORM 1 FROM triarch.tasks t WHERE t.key = task AND t.epoch = keep_effect.epoch AND t.locked_by = node FOR KEY SHARE;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM triarch.effects e WHERE e.task = keep_effect.task AND e.step < first_step;
  INSERT INTO triarch.effects (task, step, name, answer) VALUES (task, step, name, answer);
  RETURN true;
END
$$;

-- Returns the answer of an effect that no other transaction is about to give one.
CREATE FUNCTION triarch.effect(task bigint, epoch bigint, step bigint, name text) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  PERFORM triarch.lock_effect(task, epoch, name);
  RETURN (SELECT e.answer FROM triarch.effects e
    WHERE e.task = effect.task AND e.step = effect.step AND e.name = effect.name);
END
$$;
