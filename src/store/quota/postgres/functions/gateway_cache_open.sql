-- Caller: QuotaLedger::open. Index: gateway_cache_node_pkey. Locks: the epoch, alone.
-- Begins an epoch after `after`, which is settled, with the node in it; named by its time, so that a cache
-- never meets one of another database, or of this one before it was restored, for the same. Unless there is a node that does not
-- reach the cache and thus would have to charge past it.
CREATE FUNCTION gateway_cache_open(
  IN after bigint, IN this_node text, IN new_token text, IN term_us bigint,
  OUT epoch bigint, OUT is_open boolean, OUT is_settled boolean, OUT token text, OUT joined boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  now_us bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1885434741, 0);
  now_us := epoch_us();
  joined := false;
  IF EXISTS (SELECT 1 FROM gateway_cache c WHERE c.epoch = after AND NOT c.is_open AND c.is_settled)
     AND NOT EXISTS (SELECT 1 FROM gateway_cache_node n
                      WHERE NOT n.sees_cache AND n.until_us >= now_us AND n.node <> this_node) THEN
    DELETE FROM gateway_cache_node n WHERE n.until_us < now_us;
    UPDATE gateway_cache c
       SET epoch = greatest(after + 1, now_us), is_open = true, is_settled = false, token = new_token
    RETURNING c.epoch INTO epoch;
    INSERT INTO gateway_cache_node AS n (epoch, until_us, sees_cache, node)
    VALUES (gateway_cache_open.epoch, now_us + term_us, true, this_node)
        ON CONFLICT (node) DO UPDATE
       SET epoch = excluded.epoch, until_us = excluded.until_us, sees_cache = true;
    joined := true;
  END IF;
  SELECT c.epoch, c.is_open, c.is_settled, c.token INTO epoch, is_open, is_settled, token
    FROM gateway_cache c;
END
$$;
