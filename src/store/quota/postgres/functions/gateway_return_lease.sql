-- Caller: QuotaLedger::return_lease. Index: as gateway_hold_quotas. Locks: as gateway_hold_quotas.
-- What was leased and did not reach the cache.
CREATE FUNCTION gateway_return_lease(
  IN this_epoch bigint, IN user_of integer, IN window_of bigint, IN amount bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  PERFORM gateway_hold_quotas(ARRAY[user_of]);
  UPDATE gateway_lease l SET ceiling = l.ceiling - amount
   WHERE l.user_id = user_of AND l.epoch = this_epoch AND l.refreshed_us = window_of;
  IF NOT FOUND THEN RETURN; END IF;
  UPDATE gateway_quota q SET used = greatest(q.used - amount, 0)
   WHERE q.user_id = user_of AND q.refreshed_us = window_of;
END
$$;
