-- Caller: QuotaLedger::beat. Index: gateway_cache_node_pkey. Locks: the epoch, shared; the node's own row.
-- Says that a node is there, and whether it reaches the cache: then it takes part in an epoch that is open.
-- One that is in an epoch that it cannot go on with stays there, without more time, until it has left it.
CREATE FUNCTION gateway_cache_beat(
  IN this_node text, IN sees boolean, IN term_us bigint,
  OUT epoch bigint, OUT is_open boolean, OUT is_settled boolean, OUT token text, OUT joined boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  mine bigint;
  now_us bigint;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1885434741, 0);
  SELECT c.epoch, c.is_open, c.is_settled, c.token INTO epoch, is_open, is_settled, token
    FROM gateway_cache c;
  now_us := epoch_us();
  mine := CASE WHEN is_open AND sees THEN epoch ELSE 0 END;
  INSERT INTO gateway_cache_node AS n (epoch, until_us, sees_cache, node)
  VALUES (mine, now_us + term_us, sees, this_node)
      ON CONFLICT (node) DO UPDATE
     SET sees_cache = excluded.sees_cache,
         until_us = CASE WHEN n.epoch IN (0, excluded.epoch) THEN excluded.until_us ELSE n.until_us END,
         epoch = CASE WHEN n.epoch = 0 THEN excluded.epoch ELSE n.epoch END
  RETURNING n.epoch INTO mine;
  joined := is_open AND sees AND mine = epoch;
END
$$;
