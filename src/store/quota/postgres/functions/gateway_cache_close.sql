-- Caller: QuotaLedger::close. Index: gateway_cache_node_pkey. Locks: the epoch, alone.
-- Closes the epoch if it is open. this_node has written down what it saw and leaves it. Settles it once nobody
-- is left in it; of who lets its term pass, what it saw is not known. Answers how things stand, and how
-- long at most somebody is still waited for.
CREATE FUNCTION gateway_cache_close(
  IN closing bigint, IN this_node text,
  OUT epoch bigint, OUT is_open boolean, OUT is_settled boolean, OUT token text, OUT wait_us bigint)
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  now_us bigint;
  lapsed_us bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1885434741, 0);
  UPDATE gateway_cache c SET is_open = false WHERE c.epoch = closing AND c.is_open;
  UPDATE gateway_cache_node n SET epoch = 0 WHERE n.node = this_node AND n.epoch = closing;
  SELECT c.epoch, c.is_open, c.is_settled, c.token INTO epoch, is_open, is_settled, token
    FROM gateway_cache c;
  wait_us := 0;
  IF is_open OR is_settled THEN RETURN; END IF;
  now_us := epoch_us();
  WITH lapsed AS (
    DELETE FROM gateway_cache_node n WHERE n.epoch = gateway_cache_close.epoch AND n.until_us < now_us
    RETURNING n.until_us)
  SELECT max(l.until_us) INTO lapsed_us FROM lapsed l;
  IF lapsed_us IS NOT NULL THEN
    INSERT INTO gateway_cache_doubt AS d (epoch, until_us) VALUES (gateway_cache_close.epoch, lapsed_us)
        ON CONFLICT (epoch) DO UPDATE SET until_us = greatest(d.until_us, excluded.until_us);
  END IF;
  SELECT coalesce(max(n.until_us) - now_us + 1, 0) INTO wait_us
    FROM gateway_cache_node n WHERE n.epoch = gateway_cache_close.epoch;
  IF wait_us > 0 THEN RETURN; END IF;
  UPDATE gateway_cache c SET is_settled = true;
  is_settled := true;
END
$$;
