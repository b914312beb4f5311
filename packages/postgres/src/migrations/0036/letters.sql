-- Immutable: a store that was migrated never runs it again. Changes come as the next number.
--
-- As `letters_within` (0007/claim.sql), for a node that has some of them at hand, as it does while their end is being written: those are in the
-- reading, and count for its bounds, but are not told again. Whether a bound kept others out (`more`) is said by the last one, and that is told.
CREATE FUNCTION triarch.letters_beside(node text, size bigint, bytes bigint, held bigint[])
RETURNS TABLE (id bigint, key bigint, message text, more boolean)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT l.id, l.task, l.message, l.more FROM (
    SELECT i.id, i.task, i.message, sum(octet_length(i.message)) OVER up - octet_length(i.message) AS before,
      sum(octet_length(i.message)) OVER up >= bytes OR row_number() OVER up = size AS more
    FROM (SELECT o.* FROM triarch.inbox o WHERE o.owner = node ORDER BY o.owner, o.id LIMIT size) i
    WINDOW up AS (ORDER BY i.id ROWS UNBOUNDED PRECEDING)) l
  WHERE l.before < bytes AND (l.more OR l.id NOT IN (SELECT h.id FROM unnest(held) AS h (id))) ORDER BY l.id;
END
$$;
