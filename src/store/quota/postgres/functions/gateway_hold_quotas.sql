-- Caller: gateway_lease_quotas, gateway_return_lease, gateway_charge_past_cache. Index: gateway_quota_pkey, gateway_lease_pkey. Locks: the quotas of the users,
-- then their leases, each ascending.
-- Gives back what the leases of settled epochs did not use.
CREATE FUNCTION gateway_hold_quotas(IN users integer[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = penstock, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET jit = off
AS $$
BEGIN
  PERFORM 1 FROM gateway_quota q WHERE q.user_id = ANY (users) ORDER BY q.user_id FOR UPDATE;
  PERFORM 1 FROM gateway_lease l WHERE l.user_id = ANY (users) ORDER BY l.user_id FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  WITH over AS (
    DELETE FROM gateway_lease l USING gateway_cache c
     WHERE l.user_id = ANY (users) AND (l.epoch < c.epoch OR l.epoch = c.epoch AND c.is_settled)
    RETURNING l.user_id, l.epoch, l.refreshed_us, l.ceiling - l.count AS unused, l.checked_us)
  UPDATE gateway_quota q SET used = greatest(q.used - o.unused, 0)
    FROM over o LEFT JOIN gateway_cache_doubt d ON d.epoch = o.epoch
   WHERE q.user_id = o.user_id AND q.refreshed_us = o.refreshed_us AND o.unused > 0
     AND (d.until_us IS NULL OR d.until_us < o.checked_us);
END
$$;
